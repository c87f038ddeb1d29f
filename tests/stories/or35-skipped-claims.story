# What only a skipped skill reports is not asked for; a verdict has to be given.
workflow engineering
mode autonomous none
item a
check security absent
check perf absent
from VALIDATE
person skips security-audit "a command line without users"
person skips perf-analysis "no targets"
person skips code-review "nobody reads it"
expect warning "REVIEW cannot be left without a verdict"
VALIDATE code-validation says done
VALIDATE integration-test says done tests 1/1
expect DOCUMENT
