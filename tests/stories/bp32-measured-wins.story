# What a check measured outranks what the agent claims, and the contradiction is shown.
workflow tdd
from GREEN
GREEN says done tests_total=10 tests_passing=10 tests_failing=0 tests 7/10
expect GREEN iteration 1
expect metric tests_failing=3
expect source tests_failing measured
expect claimed tests_failing=0
expect note "failing tests: the agent claimed 0, measured 3"
