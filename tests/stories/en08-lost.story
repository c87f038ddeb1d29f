# A call that nobody knows the end of is judged by what it left; it counts.
workflow tdd
from GREEN
GREEN is lost tests 1/2
expect calls 1
expect GREEN iteration 1
expect why "the shim is gone"
expect errors 1
GREEN says done tests 2/2
expect prompt "the shim is gone"
expect REFACTOR
