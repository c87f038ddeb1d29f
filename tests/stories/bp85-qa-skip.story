# The escalated rejection may be let go: completed, with a warning.
workflow tdd
from QA
QA    says REJECT tests 2/2
GREEN says done tests 2/2
QA    says REJECT tests 2/2
GREEN says done tests 2/2
QA    says REJECT tests 2/2
expect waiting "rejected the work 3 times"
expect exit 3
person answers skip
expect completed "not proven"
expect phase QA forced
expect unverified
