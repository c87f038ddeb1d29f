# A task is complete with its commit; the claim without one is a failure.
workflow plan
item a
EXECUTE says TASK_COMPLETE with item_commits=0
expect EXECUTE iteration 1
expect item a
expect why "said TASK_COMPLETE, but nothing was committed for this task"
EXECUTE says TASK_COMPLETE with item_commits=0 x2
expect halted "3 iterations in a row"
