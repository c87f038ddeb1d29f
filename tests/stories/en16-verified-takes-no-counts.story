# In a verified run a check without counts leaves them unknown.
workflow tdd
from GREEN
GREEN says done tests_total=2 tests_passing=2 tests_failing=0 consecutive_green_runs=2
expect GREEN iteration 1
expect metric tests_failing=unknown
