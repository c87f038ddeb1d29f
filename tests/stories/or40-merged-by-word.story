# Where nobody can look, the person's word is taken.
workflow engineering
world pr_merged=unknown
from SHIP
SHIP says done x2
expect waiting
person answers done "merged by hand"
expect COMPLETE
expect warning "merged by hand"
