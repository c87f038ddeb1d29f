# A call that the provider refuses is a call, not an iteration, and nothing for the breaker.
workflow tdd
from GREEN
GREEN says nothing tests 1/2
GREEN says nothing tests 1/2
expect breaker closed
GREEN is limited
expect GREEN iteration 2
expect calls 3
expect breaker closed
expect running "Z: overloaded"
later 59m
expect calls 3
later 2m                               # BP-79: it goes on by itself
GREEN says nothing tests 2/2
expect calls 4
expect GREEN iteration 3
GREEN is limited 200m                  # a time that the provider names wins
later 61m
expect running "waiting until"
later 80m
GREEN says done tests 2/2
expect REFACTOR
