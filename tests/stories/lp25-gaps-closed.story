workflow plan
item a
EXECUTE    says TASK_COMPLETE
VERIFY     says gaps_found
CLOSE_GAPS says nothing with new_plans=1
expect VERIFY
VERIFY     says passed
expect completed
expect iterations 4
