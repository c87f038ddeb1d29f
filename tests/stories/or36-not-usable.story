# What a skill has to report, and reports in words that its stage can do nothing with, is asked of that skill again.
workflow engineering
mode autonomous none
item a
check security absent
from VALIDATE
VALIDATE code-validation says done
VALIDATE integration-test says done
VALIDATE security-audit says done critical_findings=none
expect VALIDATE
expect why "security-audit reported critical security findings"
VALIDATE debug-assist says done
VALIDATE security-audit says done
VALIDATE perf-analysis says done tests 1/1
DOCUMENT says done tests 1/1
REVIEW code-review says done verdict=LATER
expect REVIEW
expect why "APPROVE or APPROVED or CHANGES is needed"
REVIEW debug-assist says done
REVIEW code-review says done
REVIEW refactor says done tests 1/1
expect SHIP
