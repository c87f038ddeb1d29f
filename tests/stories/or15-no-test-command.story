# From TEST on the tests must be run: their command is asked for, once; lint may lack one (2.7-15).
workflow engineering
item a
check tests absent
check lint absent
from IMPLEMENT
IMPLEMENT says done
TEST says done
expect waiting "needs the check"
expect exit 3
person answers command "npm test"
expect VERIFY
expect calls 2
VERIFY says done tests 1/1
expect VALIDATE
