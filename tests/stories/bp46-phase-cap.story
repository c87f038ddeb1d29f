# A hundred iterations in one phase are the end of it; a higher number of the run does not help.
workflow tdd
limit window 1000 wait
criteria 1000
from RED
limit phase 4
RED says nothing tests 0/1
RED says nothing tests 0/2
RED says nothing tests 0/3
RED says nothing tests 0/4
expect capped "4 of 4 iterations used in RED"
expect exit 6
person resumes
expect capped
person resets
expect RED iteration 0
RED says nothing tests 0/5
expect RED iteration 1
