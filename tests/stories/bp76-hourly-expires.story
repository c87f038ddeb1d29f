# Nobody answers: with the window over the question is over too.
workflow tdd
limit window 1 ask
criteria 9
RED says nothing tests 0/1
expect paused
later 61m
RED says nothing tests 0/2
expect calls 2
expect paused
