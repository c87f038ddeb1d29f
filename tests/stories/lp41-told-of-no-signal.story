# After a call without a signal the next one is told so.
workflow plan
item a
EXECUTE is silent
EXECUTE says TASK_COMPLETE
expect prompt "had no readable report"
