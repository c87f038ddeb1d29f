# Two cycles of closing gaps; the third time gaps are found the run is stuck (3.7-23).
workflow plan
item a
from VERIFY
VERIFY     says gaps_found
CLOSE_GAPS says nothing with new_plans=1
expect VERIFY
VERIFY     says gaps_found
CLOSE_GAPS says nothing with new_plans=2
VERIFY     says gaps_found
expect halted "VERIFY rejected the work 3 times"
expect exit 4
