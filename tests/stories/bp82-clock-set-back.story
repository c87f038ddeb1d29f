# A clock that is set back over the window empties it, also for a run that waits for its end.
workflow tdd
limit window 2 ask
criteria 9
RED says nothing tests 0/1
RED says nothing tests 0/2
expect paused "2 of 2 calls used"
person answers wait
expect running "waiting until"
earlier 3h
RED says nothing tests 0/3
expect calls 3
RED says nothing tests 0/4
expect paused "2 of 2 calls used"
