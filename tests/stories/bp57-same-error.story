# The same error three times opens GREEN's breaker although more tests pass each time.
workflow tdd
from GREEN
GREEN says nothing error "E0308 mismatched types" tests 1/10
GREEN says nothing error "E0308 mismatched types" tests 2/10
expect breaker closed
GREEN says nothing error "E0308 mismatched types" tests 3/10
expect halted "the same error 3 times in a row"
