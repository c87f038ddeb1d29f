workflow tdd
from QA
QA says nothing checks_passing=3 blocking_issues=4 tests 1/1
QA says nothing checks_passing=5 blocking_issues=4 tests 1/1
QA says nothing checks_passing=5 blocking_issues=2 tests 1/1
expect breaker closed
QA says nothing checks_passing=5 blocking_issues=2 tests 1/1
QA says nothing checks_passing=5 blocking_issues=2 tests 1/1
expect breaker half-open
QA says nothing checks_passing=5 blocking_issues=2 tests 1/1
expect halted "no progress in 3 iterations"   # BP-54
