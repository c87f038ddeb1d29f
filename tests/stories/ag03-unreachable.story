# A provider that cannot be reached is tried again after pauses that grow: no iteration, and nothing
# for the breaker.
workflow ralph
WORK is unreachable
expect calls 1
expect WORK iteration 0
expect breaker closed
expect running "Z: connection refused"
later 4s
expect calls 1
later 2s
WORK is unreachable
expect calls 2
later 9s
expect calls 2
later 2s
WORK says done
expect completed
