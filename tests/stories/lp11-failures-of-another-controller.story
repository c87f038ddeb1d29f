# Iterations, failures in a row and finished tasks of another controller count on.
workflow plan
before iterations 7
before failures 2
before done a
item a
item b
expect iterations 7
expect items done 1
EXECUTE is silent
expect prompt "# Iteration 8 of phase"
expect halted "3 iterations in a row without a confirmed result"
expect calls 1
