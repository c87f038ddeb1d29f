# Passing tests that rise or failing ones that fall are progress.
workflow tdd
from GREEN
GREEN says nothing tests 3/10
GREEN says nothing tests 5/10
GREEN says nothing tests 5/8             # fewer fail
expect breaker closed
GREEN says nothing tests 5/8
GREEN says nothing tests 5/8
expect halted "the same error 3 times"
