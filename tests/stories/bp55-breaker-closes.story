# Progress closes a half-open breaker.
workflow tdd
criteria 9
RED says nothing tests 0/1
RED says nothing tests 0/1 x2
expect breaker half-open
RED says nothing tests 0/2
expect breaker closed
RED says nothing tests 0/2
expect breaker closed
