# Counts that contradict themselves are not believed, even where the agent's word is taken.
workflow tdd
unverified
check tests absent
check build absent
from GREEN
GREEN says done tests_total=11 tests_passing=11 tests_failing=0 consecutive_green_runs=2 broken
expect GREEN iteration 1
expect metric tests_failing=unknown
