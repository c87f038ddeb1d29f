workflow tdd
criteria 9
limit tokens 1000
RED says nothing tests 0/1 tokens 18446744073709551615
expect stopped "the budget of 1000 tokens is used up"
