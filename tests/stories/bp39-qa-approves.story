# Blocking issues keep QA whatever the verdict (BP-88); warnings do not.
workflow tdd
proof new-test
from QA
QA says APPROVE blocking_issues=1 tests 1/1
expect QA iteration 1
QA says APPROVE blocking_issues=0 warning_issues=3 tests 1/1
expect completed
expect exit 0
expect verified
