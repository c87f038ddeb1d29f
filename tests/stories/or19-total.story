# The tenth failure blocks even where each begins an episode of its own.
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e2"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e3"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e4"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e5"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e6"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e7"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e8"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e9"
expect failures 9
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e10"
expect halted "10 failures in all"
person answers resume                    # a total that a person has seen begins again
expect failures 0
VERIFY says done tests 1/1
expect VALIDATE
