# A stage is left when each of its skills is done; checks are run after the last.
workflow engineering
from VALIDATE
VALIDATE code-validation says done
VALIDATE integration-test says done failed
expect VALIDATE
expect failures 1
VALIDATE debug-assist says done
VALIDATE integration-test says done      # the one that failed, not the ones before it
VALIDATE security-audit says done
expect VALIDATE
VALIDATE perf-analysis says done tests 1/1
expect waiting
