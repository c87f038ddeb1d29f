# Three iterations in a row without a signal are stuck; a task in between starts again.
workflow plan
item a
item b
EXECUTE is silent
EXECUTE is silent
expect prompt "had no readable report"           # LP-41
EXECUTE says TASK_COMPLETE
expect item b
EXECUTE is silent x2
expect running
EXECUTE is silent
expect halted "3 iterations in a row without a confirmed result"
expect exit 4
