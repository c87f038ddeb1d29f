# Work that does not go together with what was merged meanwhile goes back with what collided, three times; then
# the system is blocked.
workflow engineering
mode autonomous none
world pr_merged=false
item a
limit iterations 200
landing collides "lib.sh: both change it"
landing collides "tests: it adds"
landing collides "b.txt: 2 lines of sys-003"
landing collides "lib.sh again"
from SHIP
SHIP      says done x2
expect IMPLEMENT
IMPLEMENT says done
expect prompt "lib.sh: both change it"
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
SHIP      says done x2
expect IMPLEMENT
IMPLEMENT says done
expect prompt "tests: it adds"
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
SHIP      says done x2
expect IMPLEMENT
IMPLEMENT says done
expect prompt "2 lines of sys-003"
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
SHIP      says done x2
expect halted "sent back 3 times for nothing: lib.sh again"
expect exit 4
person answers resume
expect waiting "the pull request is not merged"
