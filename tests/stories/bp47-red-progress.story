# Tests or covered criteria that rise are progress; as many as before are none.
workflow tdd
criteria 9
RED says nothing tests 0/3 criteria_covered=2
expect breaker closed
RED says nothing tests 0/5 criteria_covered=2
RED says nothing tests 0/5 criteria_covered=3
RED says nothing tests 0/5 criteria_covered=3
RED says nothing tests 0/5 criteria_covered=3
expect breaker half-open
