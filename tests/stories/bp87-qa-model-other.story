workflow tdd
model haiku
from GREEN
GREEN says done tests 1/1
REFACTOR says done refactoring_complete=true tests 1/1
DOCUMENT says done tests 1/1 with docs_generated=3 has_adr=true
QA says nothing tests 1/1
expect model sonnet
