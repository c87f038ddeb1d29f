# Only errors in a row count (1.7-20).
workflow tdd
from GREEN
GREEN says nothing error "E1" tests 1/10
GREEN says nothing error "E1" tests 2/10
GREEN says nothing tests 3/3
GREEN says nothing error "E1" tests 4/10
GREEN says nothing error "E1" tests 5/10
expect GREEN iteration 5
