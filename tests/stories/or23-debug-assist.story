# A failure is looked at before the stage is tried again; what was found is in the next prompt, beside what failed.
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "no semicolon"
VERIFY debug-assist says done summary "a semicolon was missing"
VERIFY says done tests 1/1
expect prompt "debug-assist says: a semicolon was missing"
expect prompt "no semicolon"
expect VALIDATE
expect retries 0
expect resolved 1
