# A phase has a budget of its own, over all its visits.
workflow tdd
criteria 1
limit phase_usd 1.50
RED says nothing tests 0/0 costs 1.00
RED says nothing tests 0/0 costs 1.00
expect stopped "the budget of $1.50 for RED is used up ($2.00 spent)"
