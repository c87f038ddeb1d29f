# A skill can be skipped, a check cannot.
workflow engineering
mode autonomous none
check tests fails "exit status 1"
from DOCUMENT
person skips document "nothing to say"
expect DOCUMENT
expect failures 1
DOCUMENT debug-assist says done
check tests passes
DOCUMENT says done tests 1/1             # nobody is left to call but the stage itself
expect REVIEW
