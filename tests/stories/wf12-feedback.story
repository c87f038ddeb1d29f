# What failed, what was claimed and what was noted is in the next prompt.
workflow tdd
from GREEN
GREEN says done tests_failing=0 tests 9/10 build fails "error[E0308]: mismatched types"
GREEN says done tests 10/10
expect prompt "error[E0308]: mismatched types"
expect prompt "failing tests: the agent claimed 0, measured 1"
expect prompt "tests: 1 of 10 failed: young 1"
