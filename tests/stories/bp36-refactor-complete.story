workflow tdd
from REFACTOR
REFACTOR says done tests 10/10
expect REFACTOR iteration 1
REFACTOR says done refactoring_complete=true tests 10/10
expect DOCUMENT
