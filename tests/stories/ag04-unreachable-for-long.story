# After an hour of that a person should know. Whoever resumes begins with short pauses again.
workflow ralph
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
later 6m
WORK is unreachable
expect halted "connection refused, 17 times in a row"
expect calls 17
expect WORK iteration 0
expect breaker closed
person answers retry
WORK is unreachable
later 6s
WORK says done
expect completed
