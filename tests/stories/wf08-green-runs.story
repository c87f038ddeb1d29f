# Each full pass adds one, any failure starts again (rule 8).
workflow tdd
from GREEN
GREEN says nothing tests 2/2
expect metric consecutive_green_runs=2
GREEN says nothing tests 1/2
expect metric consecutive_green_runs=0
GREEN says nothing tests 2/2
expect metric consecutive_green_runs=2
GREEN says nothing tests 2/2
expect metric consecutive_green_runs=4
expect breaker closed
