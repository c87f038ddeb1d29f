# RED to QA; each phase in the log with its iterations (BP-43, BP-44, BP-45).
workflow tdd
criteria 2
RED      says nothing tests 0/1
RED      says done tests 0/2
expect GREEN iteration 0
expect phase RED completed iterations 2
GREEN    says nothing tests 1/2
expect prompt "iteration 1"
GREEN    says done tests 2/2
REFACTOR says done refactoring_complete=true tests 2/2
DOCUMENT says done tests 2/2 with docs_generated=3 has_adr=true
QA       says APPROVE blocking_issues=0 tests 2/2
expect completed
expect calls 7
expect iterations 7
expect percent 100
expect phase RED completed iterations 2
expect phase GREEN completed iterations 2
expect phase REFACTOR completed iterations 1
expect phase DOCUMENT completed iterations 1
expect phase QA completed iterations 1
