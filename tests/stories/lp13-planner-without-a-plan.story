# LP-27: a planner that makes no plan is stuck.
workflow plan
from VERIFY
VERIFY says gaps_found
expect CLOSE_GAPS
CLOSE_GAPS says nothing with new_plans=0
expect halted "CLOSE_GAPS: "
