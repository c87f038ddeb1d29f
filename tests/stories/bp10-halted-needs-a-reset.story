# A halted run does not go on by itself; with a reset its counters are 0.
workflow tdd
from GREEN
GREEN says nothing tests 1/2 x3
expect halted
person resumes
expect halted
expect calls 3
person resets
expect GREEN iteration 0
expect breaker closed
GREEN says nothing tests 1/2
expect GREEN iteration 1
