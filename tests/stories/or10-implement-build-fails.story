workflow engineering
item a
from IMPLEMENT
IMPLEMENT says done build fails "no such module"
expect IMPLEMENT
expect failures 1
IMPLEMENT debug-assist says done
IMPLEMENT says done
expect TEST
