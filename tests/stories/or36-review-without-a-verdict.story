# A review that gives no verdict is not done; what nobody said is no approval.
workflow engineering
mode autonomous none
item a
from REVIEW
REVIEW code-review says done tests 1/1 unreported
expect REVIEW
expect why "code-review did not report verdict"
REVIEW debug-assist says done
REVIEW code-review says done tests 1/1 unreported
REVIEW debug-assist says done
REVIEW code-review says done tests 1/1 unreported
expect halted "the same failure 3 times"
expect exit 4
