# A phase that a person lets go is forced: the run completes, and says that it is not verified.
workflow tdd
from GREEN
GREEN says nothing tests 1/2 x3
expect halted
person answers skip
expect REFACTOR
expect phase GREEN forced iterations 3
expect reason GREEN "skipped by user"
expect unverified
expect warning "GREEN was skipped by a person"
REFACTOR says done refactoring_complete=true tests 2/2
DOCUMENT says done tests 2/2 with docs_generated=3 has_adr=true
QA says APPROVE blocking_issues=0 tests 2/2
expect completed "not proven"
expect exit 0
