# Neither the queue nor the spec names any: there is one, named like the system.
workflow engineering
from IMPLEMENT
IMPLEMENT says done
expect item "the input"
