# Without a reset by a different error: three retries, the fourth failure blocks.
workflow engineering
retries reset_on_different=false
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
expect retries 1
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e2"
expect retries 2
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e3"
expect retries 3
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e4"
expect halted "3 of 3 retries used"
