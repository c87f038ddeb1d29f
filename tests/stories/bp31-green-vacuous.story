# No test at all proves nothing.
workflow tdd
from GREEN
GREEN says done tests 0/0
expect GREEN iteration 1
expect why "no test ran"
