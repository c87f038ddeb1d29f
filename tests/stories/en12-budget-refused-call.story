# A call that the provider refused did no work and is not taken for a dear one.
workflow tdd
criteria 9
limit usd 2
RED says nothing tests 0/1 costs 1.00
RED is limited
expect running
