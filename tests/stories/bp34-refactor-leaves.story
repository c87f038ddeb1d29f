# The fifth iteration is enough where nothing is called complete.
workflow tdd
from REFACTOR
REFACTOR says done tests 10/10 patterns_applied=1
REFACTOR says done tests 10/10 patterns_applied=2
REFACTOR says done tests 10/10 patterns_applied=3
expect REFACTOR iteration 3               # BP-35
REFACTOR says done tests 10/10 patterns_applied=4
REFACTOR says done tests 8/10 patterns_applied=5
expect REFACTOR iteration 5               # BP-35: not with failing tests
REFACTOR says done tests 10/10 patterns_applied=5
expect DOCUMENT
expect phase REFACTOR completed iterations 6
