# Who is asked with the profile quality, role by role.
workflow plan
profile quality
item a
EXECUTE is silent
expect model opus
EXECUTE says TASK_COMPLETE
VERIFY is silent
expect model sonnet
VERIFY says gaps_found
CLOSE_GAPS says nothing with new_plans=0
expect model opus
