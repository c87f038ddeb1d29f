# Five iterations with no pattern and no complexity score.
workflow tdd
from REFACTOR
REFACTOR says nothing tests 5/5
expect breaker closed
REFACTOR says nothing tests 5/5
expect breaker half-open
REFACTOR says nothing tests 5/5 x2
expect breaker half-open
REFACTOR says nothing tests 5/5
expect halted "no progress in 5 iterations"
