workflow tdd
from GREEN
GREEN says nothing tests 1/2 x3
person answers modify "use X"
expect breaker closed
GREEN says nothing tests 1/2
expect prompt "use X"
