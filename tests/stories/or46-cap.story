workflow engineering
limit iterations 3
INIT says done x3
expect capped "3 of 3 iterations used"
expect exit 6
# The limit of a system is for one command, so it counts anew.
person raises 5
INIT says done x3
SCAFFOLD says done x2
expect capped "5 of 5 iterations used"
