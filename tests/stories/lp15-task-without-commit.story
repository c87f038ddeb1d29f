# A task is complete with its commit; the claim without one is a failure.
workflow plan
item a
EXECUTE says TASK_COMPLETE with commits_made=0
expect EXECUTE iteration 1
expect item a
expect why "said TASK_COMPLETE, but nothing was committed in this iteration"
EXECUTE says TASK_COMPLETE with commits_made=0 x2
expect halted "3 iterations in a row"
