# A phase whose condition names no check is kept by one that fails all the same (rule 1).
workflow tdd
from DOCUMENT
DOCUMENT says done tests 9/10 with docs_generated=3 has_adr=true
expect DOCUMENT iteration 1
expect why "tests: 1 of 10 failed"
DOCUMENT says done tests 10/10 build fails "x" with docs_generated=3 has_adr=true
expect DOCUMENT iteration 2
DOCUMENT says done tests 10/10 with docs_generated=3 has_adr=true
QA says APPROVE blocking_issues=0 tests 9/10
expect QA iteration 1
QA says APPROVE blocking_issues=0 tests 10/10
expect completed
