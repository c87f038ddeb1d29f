# A call that cannot be started is no call and no iteration; after some tries the run halts.
workflow tdd
RED is unstartable 3
expect calls 0
RED says nothing tests 0/1
expect calls 1
expect RED iteration 1
RED is unstartable 8
expect halted "could not be started 8 times"
expect exit 4
expect calls 1
