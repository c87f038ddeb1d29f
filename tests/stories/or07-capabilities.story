# IMPLEMENT, TEST and VERIFY run once for each capability, then the run goes on.
workflow engineering
item a
item b
item c
from IMPLEMENT
expect item a
IMPLEMENT says done tests 1/1
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect IMPLEMENT
expect items done 1
expect item b
IMPLEMENT says done tests 1/1
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect item c
IMPLEMENT says done tests 1/1
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect VALIDATE
expect items done 3
expect phase VERIFY completed
expect phase IMPLEMENT completed
