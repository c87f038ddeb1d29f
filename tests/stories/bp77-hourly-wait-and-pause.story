workflow tdd
limit window 1 pause
criteria 9
RED says nothing tests 0/1
expect paused "1 of 1 calls used"
person resumes
expect paused
later 61m
person resumes
RED says nothing tests 0/2
expect calls 2
