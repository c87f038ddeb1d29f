workflow tdd
from DOCUMENT
DOCUMENT says nothing tests 1/1 x2
expect breaker half-open
DOCUMENT says nothing tests 1/1
expect halted "no progress in 3 iterations"
