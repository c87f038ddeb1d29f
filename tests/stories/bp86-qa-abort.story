workflow tdd
from QA
QA    says REJECT tests 2/2
expect phase GREEN active
expect phase REFACTOR completed
expect phase QA pending
expect reason QA "rejected"
GREEN says nothing tests 1/2
expect prompt "REJECT"
GREEN says done tests 2/2
QA    says REJECT tests 2/2
GREEN says done tests 2/2
QA    says REJECT tests 2/2
person answers abort
expect halted "aborted by user"
expect exit 4
