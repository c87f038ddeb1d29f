# Once more, then stuck.
workflow plan
from VERIFY
VERIFY is silent
expect VERIFY iteration 1
VERIFY is silent
expect halted "VERIFY: "
