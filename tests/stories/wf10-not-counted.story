# Verifier and planner are bounded by their routes, not by the cap.
workflow plan
limit iterations 1
item a
EXECUTE says TASK_COMPLETE
VERIFY says gaps_found
CLOSE_GAPS says nothing with new_plans=1
VERIFY says passed
expect completed
expect iterations 4
