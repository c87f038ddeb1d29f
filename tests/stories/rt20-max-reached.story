workflow ralph
limit iterations 3
WORK is silent tests 1/2
WORK is silent tests 1/3
WORK is silent tests 1/4
expect capped "3 of 3 iterations used"
expect exit 6
expect calls 3
