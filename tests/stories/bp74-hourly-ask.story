# The window is used up: no call goes out, the run is paused and asks.
workflow tdd
limit window 3 ask
criteria 9
RED says nothing tests 0/1
RED says nothing tests 0/2
RED says nothing tests 0/3
expect paused "3 of 3 calls used"
expect exit 5
expect calls 3
person answers wait
expect running "waiting until"
later 58m                              # BP-75: the window began with its first call
expect calls 3
RED says nothing tests 0/4
expect calls 4
