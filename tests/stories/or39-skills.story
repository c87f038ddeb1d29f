# Each skill of a stage is completed once: one that fails is called again until it is, and one that is skipped never is.
workflow engineering
mode autonomous none
check security absent
from VALIDATE
VALIDATE code-validation says done
VALIDATE integration-test says done failed
VALIDATE debug-assist says done
VALIDATE integration-test says done
person skips perf-analysis "no targets"
VALIDATE security-audit says done critical_findings=0 high_findings=0 tests 1/1
expect DOCUMENT
expect calls 5
expect failures 1
