workflow tdd
criteria 9
limit usd 2
RED says nothing tests 0/1 costs 1.50
RED says nothing tests 0/2 costs 1.50
expect stopped "the budget of $2.00 is used up ($3.00 spent)"
expect exit 5
person resumes
expect stopped
expect calls 2
