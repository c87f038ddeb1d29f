# Enough generated tests, all of them failing, and the signal: RED is left. More than enough will do.
workflow tdd
criteria 5
RED says done tests 0/5
expect GREEN iteration 0
expect phase RED completed iterations 1
expect reason RED "the exit rule was met"
