# The signal with tests failing is noted, and 9 of 10 is not enough.
workflow tdd
from GREEN
GREEN says done tests 8/10
expect GREEN iteration 1
expect note "said that it is done, but it is not"
GREEN says done tests 9/10                # BP-30
expect GREEN iteration 2
expect metric tests_failing=1
