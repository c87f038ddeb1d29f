workflow tdd
from GREEN
GREEN says nothing tests 1/2
GREEN says nothing tests 1/2 x2
expect halted
person answers reset
expect GREEN iteration 3
expect breaker closed
GREEN says nothing tests 1/2
expect breaker closed
