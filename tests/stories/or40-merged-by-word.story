# That it is merged is looked at; the person's word alone does not make it so.
workflow engineering
world pr_merged=false
from SHIP
SHIP says done x2
expect waiting "not merged"
person answers done "merged by hand"
expect waiting "not merged"
expect warning "answered done, but it is not merged"
world pr_merged=true
person answers done
expect COMPLETE
