# What an agent says about its usage can only add.
workflow tdd
criteria 9
limit usd 2
RED says nothing tests 0/1 costs -5
RED says nothing tests 0/2 costs NaN
RED says nothing tests 0/3 costs 2
expect stopped "used up ($2.00 spent)"
