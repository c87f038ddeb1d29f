# Two errors that take turns are a circle, whatever the counters of each say.
workflow tdd
criteria 99
RED says nothing error "E1" tests 0/1
RED says nothing error "E2" tests 0/2
RED says nothing error "E1" tests 0/3
expect running
RED says nothing error "E2" tests 0/4
expect halted "two errors alternate"
