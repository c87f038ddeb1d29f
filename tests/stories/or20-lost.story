# A call that nobody knows the end of is no failure of the work: it is called again, without a diagnosis.
workflow engineering
item a
from VERIFY
VERIFY is lost tests 1/1
expect failures 0
VERIFY says done tests 1/1
expect VALIDATE
