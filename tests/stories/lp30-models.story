workflow plan
item a
EXECUTE says TASK_COMPLETE
expect VERIFY
VERIFY says gaps_found
expect CLOSE_GAPS
CLOSE_GAPS says nothing with new_plans=0
expect model opus
