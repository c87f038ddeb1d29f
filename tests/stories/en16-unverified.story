# Where nothing is measured the agent's counts count, and everything says so.
workflow tdd
unverified
check tests absent
check build absent
criteria 2
RED says done tests_total=2 tests_passing=0 tests_failing=2
expect GREEN
GREEN says done tests_total=2 tests_passing=2 tests_failing=0 consecutive_green_runs=1
expect GREEN iteration 1
expect source tests_failing claimed
GREEN says done tests_total=2 tests_passing=2 tests_failing=0 consecutive_green_runs=2
REFACTOR says done refactoring_complete=true tests_total=2 tests_passing=2 tests_failing=0
DOCUMENT says done with docs_generated=3 has_adr=true
QA says APPROVE blocking_issues=0
expect completed "not proven"
expect unverified
expect warning "unverified"
