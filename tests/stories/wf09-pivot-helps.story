workflow tdd
pivots
from GREEN
GREEN says nothing tests 1/4
GREEN says nothing tests 1/4 x2
GREEN says nothing tests 2/4
expect breaker closed
GREEN says nothing tests 2/4 x2
expect halted "the same error 3 times"
