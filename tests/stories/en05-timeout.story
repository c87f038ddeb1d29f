# A call that hangs is ended and is a failure of its own class: nothing to wait for.
workflow engineering
item a
from IMPLEMENT
IMPLEMENT hangs
expect retries 1
IMPLEMENT debug-assist says done
IMPLEMENT hangs
IMPLEMENT debug-assist says done
IMPLEMENT hangs
expect halted "the same failure 3 times"
