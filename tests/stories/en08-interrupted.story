# An interrupted call is a call, not an iteration, and nothing for the breaker.
workflow tdd
from GREEN
GREEN says nothing tests 1/2 x2
GREEN is interrupted
expect calls 3
expect GREEN iteration 2
expect breaker closed
GREEN says nothing tests 2/2
expect GREEN iteration 3
