# Tests that failed before the first call are left out, and named in a warning (rule 6).
workflow tdd
criteria 2
baseline tests 7/10
expect warning "3 tests of"
RED   says done tests 7/12
expect GREEN
expect phase RED completed
GREEN says nothing tests 8/12
expect metric tests_failing=1
expect metric tests_total=9
GREEN says done tests 9/12
expect REFACTOR
