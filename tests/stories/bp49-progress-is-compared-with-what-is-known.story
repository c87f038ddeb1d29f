# An iteration that could not be measured is nothing to be compared with.
workflow tdd
criteria 9
RED says nothing tests 0/3
RED says nothing tests fails "the suite does not compile"
RED says nothing tests 0/3
expect breaker half-open
