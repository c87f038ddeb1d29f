# A security finding is never retried; an unclear requirement neither.
workflow engineering
from VALIDATE
VALIDATE code-validation says done
VALIDATE integration-test says done
VALIDATE security-audit says done error "token in the log" class security
expect halted "security failures are never retried"
expect retries 0
expect calls 3
person answers resume "the token is masked at the border"
VALIDATE security-audit says done
expect prompt "the token is masked at the border"
VALIDATE perf-analysis says done tests 1/1
expect waiting "security team"
