# A report that is complete in every way but its signal leaves nothing.
workflow tdd
from QA
QA says nothing verdict=APPROVE blocking_issues=0 tests 1/1
expect QA iteration 1
