# The iteration that would open the breaker is left by its exit rule, and what follows begins at 0.
workflow tdd
from REFACTOR
REFACTOR says nothing tests 5/5 x4
expect breaker half-open
REFACTOR says done tests 5/5
expect DOCUMENT
expect breaker closed
