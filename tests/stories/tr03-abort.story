# A person can end the wait for the merge, and begin it again.
workflow engineering
world pr_merged=false
landing waits "main has uncommitted changes in lib.sh"
landing waits "main has uncommitted changes in lib.sh"
from SHIP
SHIP says done x2
expect waiting "uncommitted changes in lib.sh"
person answers abort
expect halted "aborted by user"
person resets
expect waiting "uncommitted changes in lib.sh"
world pr_merged=true
person answers retry
expect COMPLETE
expect calls 2
