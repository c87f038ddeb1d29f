# A check without a command is recorded as skipped, never as passed, and does not hold the stage.
workflow engineering
item a
check lint absent
check types absent
from VERIFY
VERIFY says done tests 4/4
expect VALIDATE
