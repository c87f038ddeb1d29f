# A person names the failed stage or an earlier one; a later one is refused.
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e1"
VERIFY debug-assist says done
VERIFY says done tests 1/1 build fails "e1"
expect halted
person resumes at VALIDATE
expect halted
expect warning "VALIDATE has not been reached"
person resumes at IMPLEMENT
expect IMPLEMENT iteration 0
expect item a
IMPLEMENT says done
expect TEST
