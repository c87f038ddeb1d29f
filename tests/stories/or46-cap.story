workflow engineering
limit iterations 3
INIT says done x3
expect capped "3 of 3 iterations used"
expect exit 6
person raises 5
INIT says done x2
expect capped
