# What a status counts: tasks that are done, iterations, and failures in a row.
workflow plan
item a
item b
item c
EXECUTE says TASK_COMPLETE
EXECUTE is silent
expect items done 1
expect iterations 2
expect EXECUTE iteration 1
EXECUTE says TASK_COMPLETE
expect items done 2
expect EXECUTE iteration 0
