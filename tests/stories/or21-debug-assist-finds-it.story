# What the look at a failure finds to be nobody's to retry blocks too.
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done error "which currency?" class ambiguous
expect halted "ambiguous failures are never retried"
