# The fix of one failure brings back the other (2.7-11).
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 lint fails "e2"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 lint fails "e2"
expect halted "two failures alternate"
