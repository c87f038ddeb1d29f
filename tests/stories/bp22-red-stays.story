# Too few tests, one that passes, none at all, no signal: each keeps RED.
workflow tdd
criteria 5
limit phase 20
RED says done tests 0/3                   # BP-22
expect RED iteration 1
expect why "tests added in this run: 3; at least 5 needed, as many as acceptance criteria"
RED says done tests 1/5                   # BP-23
expect RED iteration 2
RED says done tests 0/0                   # BP-24
expect RED iteration 3
RED says nothing tests 0/5                # BP-25: the condition holds, the signal is missing
expect RED iteration 4
expect why "did not say that it is done"
RED says done tests 0/5
expect GREEN
