# Changes go back to IMPLEMENT as an item of their own, through every stage between.
workflow engineering
item a
from IMPLEMENT
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
person answers approve
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
expect waiting "Ship it?"
person answers changes "rename the endpoint"
expect IMPLEMENT iteration 0
expect item "gate feedback"
expect phase VERIFY pending
expect phase REVIEW pending
IMPLEMENT says done
expect prompt "rename the endpoint"
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect VALIDATE
VALIDATE  says done tests 1/1 x4
expect metric items_completed=1
person answers approve
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
expect waiting "Ship it?"
person answers approve
expect SHIP
