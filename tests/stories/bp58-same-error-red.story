# RED bears it four times.
workflow tdd
criteria 9
RED says nothing error "E1" tests 0/1
RED says nothing error "E1" tests 0/2
RED says nothing error "E1" tests 0/3
RED says nothing error "E1" tests 0/4
expect RED iteration 4
RED says nothing error "E1" tests 0/5
expect halted "the same error 5 times in a row"
