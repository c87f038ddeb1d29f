# Before it halts, one fresh call is briefed with what was tried; without progress the run halts.
workflow tdd
pivots
from GREEN
GREEN says nothing error "E0308 mismatched types" tests 1/2
GREEN says nothing error "E0425 not found" tests 1/2 x2
expect running
GREEN says nothing error "E0599 no method" tests 1/2
expect prompt "E0308 mismatched types"
expect prompt "E0425 not found"
expect halted "no progress in 3 iterations"
person answers reset
GREEN says nothing tests 1/2
expect GREEN
