workflow tdd
criteria 9
limit tokens 1000
limit time 10m
RED says nothing tests 0/1 tokens 400 takes 4m
RED says nothing tests 0/2 tokens 400 takes 4m
expect running
RED says nothing tests 0/3 tokens 100 takes 2m
expect stopped "the time limit of 10m 00s is used up"
