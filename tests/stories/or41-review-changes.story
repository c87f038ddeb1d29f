# The review sends the work back at once, twice; the third time a person is asked.
workflow engineering
mode autonomous none
item a
from REVIEW
REVIEW code-review says done verdict=CHANGES summary "split the module"
expect IMPLEMENT
IMPLEMENT says done
expect prompt "split the module"
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
DOCUMENT  says done tests 1/1
REVIEW    code-review says done verdict=CHANGES
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
DOCUMENT  says done tests 1/1
REVIEW    code-review says done verdict=CHANGES
expect waiting "REVIEW rejected the work 3 times"
