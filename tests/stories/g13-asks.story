# A call that waits for a person is ended like one that hangs, and the next prompt says what it waited for.
workflow engineering
item a
from IMPLEMENT
IMPLEMENT asks
expect retries 1
IMPLEMENT debug-assist says done
IMPLEMENT asks
IMPLEMENT debug-assist says done
IMPLEMENT asks
expect halted "the same failure 3 times"
