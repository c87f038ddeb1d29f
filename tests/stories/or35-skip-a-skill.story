# A skill is skipped with a reason; with none left to call, the stage is measured as it stands.
workflow engineering
mode autonomous none
from VALIDATE
person skips security-audit
expect warning "only with a reason"
person skips security-audit "a command line without users"
VALIDATE code-validation says done
VALIDATE integration-test says done
expect VALIDATE iteration 2
person skips perf-analysis "no targets"
expect DOCUMENT
expect calls 2
expect phase VALIDATE completed iterations 2
