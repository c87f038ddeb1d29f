workflow tdd
criteria 5
RED says done tests 0/7
expect GREEN
