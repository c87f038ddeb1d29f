# Iterations alone bring a run no nearer to its end: tests stay red, so half is the most (4.7-2).
workflow ralph
limit iterations 12
WORK is silent tests 1/2
WORK is silent tests 1/3
WORK is silent tests 1/4
WORK is silent tests 1/5
WORK is silent tests 1/6
WORK is silent tests 1/7
WORK is silent tests 1/8
WORK is silent tests 1/9
WORK is silent tests 1/10
WORK is silent tests 1/11
WORK is silent tests 1/12
WORK is silent tests 1/13
expect capped "12 of 12 iterations used"
expect percent 50
