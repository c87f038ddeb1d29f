# Two iterations without a report and without a measured improvement.
workflow tdd
from GREEN
GREEN is silent tests 3/10
GREEN is silent tests 3/10
expect halted "no progress in 2 iterations"
expect prompt "had no readable report"
