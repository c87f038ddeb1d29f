# What is measured wins in an unverified run too.
workflow tdd
unverified
from GREEN
GREEN says done tests_total=2 tests_passing=2 tests_failing=0 consecutive_green_runs=2 tests 1/2
expect GREEN iteration 1
expect metric tests_failing=1
