# Before the first call: iteration 0, no failures, 50 iterations at most (LP-06), nothing done.
workflow plan
item a
expect ready
expect EXECUTE iteration 0
expect iterations 0
expect calls 0
expect items done 0
expect breaker closed
EXECUTE is silent x2
expect iterations 2
person stops
expect stopped
