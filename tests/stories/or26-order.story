# A failure at a boundary comes before its gate; blocked comes before everything.
workflow engineering
from REVIEW
REVIEW code-review says done verdict=APPROVE
REVIEW refactor says done tests 3/4
expect REVIEW
expect retries 1
REVIEW debug-assist says done
REVIEW refactor says done tests 4/4
expect waiting "Ship it?"
