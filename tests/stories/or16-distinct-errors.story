# A different error begins a different episode; then it passes.
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
expect retries 1
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e2"
expect retries 1
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e3"
expect retries 1
VERIFY debug-assist says done
VERIFY says done tests 1/1
expect VALIDATE
expect failures 3
expect retries 0
expect resolved 3
