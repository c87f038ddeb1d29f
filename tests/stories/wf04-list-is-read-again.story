# The list is read before each item: what was added meanwhile is done, what is done is remembered by id.
workflow plan
item a
EXECUTE says TASK_COMPLETE
item b
expect VERIFY
VERIFY says gaps_found
CLOSE_GAPS says nothing with new_plans=1
expect EXECUTE
expect item b
item c
EXECUTE says TASK_COMPLETE
expect item c
EXECUTE says TASK_COMPLETE
expect VERIFY
expect items done 3
