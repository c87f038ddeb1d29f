# Nothing happens to a blocked system without a person.
workflow engineering
from DOCUMENT
DOCUMENT says done tests 1/1 error "which currency?" class ambiguous
expect halted "ambiguous failures are never retried"
expect exit 4
person resumes
expect halted
expect calls 1
