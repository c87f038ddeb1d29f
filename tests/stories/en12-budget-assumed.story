# Once a call has told its cost, one that does not counts as the dearest of the last five.
workflow tdd
criteria 9
limit usd 4
RED says nothing tests 0/1 costs 0.50
RED says nothing tests 0/2 costs 1.50
RED says nothing tests 0/3
expect running
RED says nothing tests 0/4 costs 0.50
expect stopped "($2.50 spent, 1 call of unknown cost taken as $1.50)"
