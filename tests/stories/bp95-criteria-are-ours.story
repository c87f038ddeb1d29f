# The agent cannot say how many criteria the input has.
workflow tdd
criteria 4
RED says done criteria_count=1 tests_generated=4 tests 0/1
expect RED iteration 1
expect metric criteria_count=4
expect claimed criteria_count=1
expect metric tests_generated=1
