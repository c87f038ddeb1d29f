# Somebody's uncommitted changes are in the way: the run waits, and looks again by itself.
workflow engineering
world pr_merged=false
landing waits "main has uncommitted changes in lib.sh"
landing waits "main has uncommitted changes in b.sh"
from SHIP
SHIP says done x2
expect waiting "the merge waits: main has uncommitted changes in lib.sh"
expect exit 3
expect calls 2
person resumes
expect waiting
expect calls 2
world pr_merged=true
person resumes
expect COMPLETE
expect calls 2
