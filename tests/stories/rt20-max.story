# Max is the number of turns; a promise in the last one counts (4.7-2, 4.7-3).
workflow ralph
limit iterations 3
WORK is silent tests 1/2
WORK is silent tests 1/3
WORK says done tests 3/3
expect completed
expect calls 3
