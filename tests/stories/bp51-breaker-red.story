# One progressing iteration, then three equal ones: closed, half open, open; the run halts.
workflow tdd
criteria 9
RED says nothing tests 0/3
RED says nothing tests 0/3
expect breaker closed
RED says nothing tests 0/3
expect breaker half-open
RED says nothing tests 0/3
expect breaker open
expect halted "no progress in 3 iterations"
expect exit 4
