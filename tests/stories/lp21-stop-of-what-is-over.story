# A stop finds nothing to stop in a run that is over.
workflow plan
item a
EXECUTE says TASK_COMPLETE
VERIFY says passed
expect completed
person stops
expect completed
expect exit 0
