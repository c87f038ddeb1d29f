# A call of unknown cost is never free: without call_usd the budget cannot be kept.
workflow tdd
criteria 9
limit usd 2
RED says nothing tests 0/1
expect stopped "the cost of call 1 is unknown, so the budget of $2.00 cannot be kept"
expect exit 5
expect calls 1
