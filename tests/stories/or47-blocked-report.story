# An agent that reports itself blocked blocks the run.
workflow engineering
from DOCUMENT
DOCUMENT is stuck "no access to the wiki"
expect halted "no access to the wiki"
expect exit 4
person answers resume "access is granted"
DOCUMENT says done tests 1/1
expect prompt "access is granted"
expect REVIEW
