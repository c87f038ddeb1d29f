# The seed's example: the third of five capabilities is worked on, and each gate waits for its boundary.
workflow engineering
item create
item list
item assign
item transitions
item completion
before done create list
from IMPLEMENT
expect IMPLEMENT
expect item assign
expect items done 2
IMPLEMENT says done tests 1/1
expect TEST
expect item assign
