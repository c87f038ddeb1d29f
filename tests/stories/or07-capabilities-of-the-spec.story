# The queue names none: the list that the spec skill reports counts (2.7-33).
workflow engineering
INIT says done x2
INIT spec says done proposes login proposes logout
INIT says done x3
SCAFFOLD says done x4
expect item login
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect item logout
