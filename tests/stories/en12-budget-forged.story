# What an agent says about its usage can only add, and what is no amount counts as call_usd.
workflow tdd
criteria 9
limit usd 2
limit call_usd 0.50
RED says nothing tests 0/1 costs -5
RED says nothing tests 0/2 costs NaN
RED says nothing tests 0/3 costs 1
expect stopped "the budget of $2.00 is used up ($1.00 spent, 2 calls of unknown cost taken as $1.00)"
