# The third identical failure blocks although a retry is left (2.7-8).
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e1"
expect halted "the same failure 3 times"
expect exit 4
expect retries 2
person resumes                           # OR-24: nothing happens without the person's word
expect halted
person answers resume
expect VERIFY
expect retries 0
VERIFY says done tests 1/1
expect VALIDATE
expect resolved 3
