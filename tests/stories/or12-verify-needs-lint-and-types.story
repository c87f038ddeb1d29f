# Every check of the row must pass; VERIFY to VALIDATE has all four.
workflow engineering
item a
from VERIFY
VERIFY says done tests 1/1 lint fails "unused"
expect VERIFY
VERIFY debug-assist says done
VERIFY says done tests 1/1 types fails "not a number"
expect VERIFY
expect failures 2
VERIFY debug-assist says done
VERIFY says done tests 1/1
expect VALIDATE
