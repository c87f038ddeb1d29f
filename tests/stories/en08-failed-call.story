# The report of a call that failed asks for nothing.
workflow tdd
from GREEN
GREEN fails "exit status 1" tests 2/2
expect GREEN iteration 1
expect why "the agent failed: exit status 1"
