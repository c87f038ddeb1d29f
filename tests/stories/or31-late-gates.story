# What the change touches only after the boundary of a gate is asked about before anything leaves: once, and before deploy.
workflow engineering
item a
from SCAFFOLD
SCAFFOLD says done x4
expect IMPLEMENT
world new_patterns=true schema_changes=true
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect waiting "migrates the database"
person answers approve
VALIDATE  says done tests 1/1 x4
expect waiting "Is this change safe"
person answers approve
world touches_security=true
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
expect waiting "Approve the architecture?"
expect REVIEW
person answers approve
expect waiting "Is this change safe"
person answers approve
expect waiting "Ship it?"
person answers approve
expect SHIP
