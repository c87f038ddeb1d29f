# The same error three turns in a row, with files changing all the time.
workflow ralph
WORK is silent tests 1/2
WORK is silent tests 1/2
expect running
WORK is silent tests 1/2
expect halted "the same error 3 times in a row"
expect exit 4
