# Tasks come in the order of the list, each once; what is done is remembered by its id.
workflow plan
item a
item b
item c
EXECUTE says TASK_COMPLETE
expect item b
EXECUTE is silent
expect item b
EXECUTE says TASK_COMPLETE
expect item c
expect items done 2
EXECUTE says TASK_COMPLETE
expect VERIFY
