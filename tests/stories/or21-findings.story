# Findings that an audit counts block at once; nobody retries them.
workflow engineering
mode autonomous none
item a
from VALIDATE
VALIDATE code-validation says done
VALIDATE integration-test says done
VALIDATE security-audit says done critical_findings=3 high_findings=0
expect halted "never retried"
expect calls 3
person answers resume
VALIDATE security-audit says done
VALIDATE perf-analysis says done tests 1/1 perf_targets_total=2 perf_targets_met=false
expect VALIDATE
expect retries 1
