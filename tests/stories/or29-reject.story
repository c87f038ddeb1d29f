# A gate that is not passed blocks; when the person is back, the gate is asked again.
workflow engineering
from REVIEW
REVIEW says done tests 1/1 x2
person answers reject "not before the audit"
expect halted "was not passed: not before the audit"
expect exit 4
person answers resume
expect waiting "Ship it?"
expect calls 2
person answers approve
expect SHIP
