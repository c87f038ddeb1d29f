# A phase that passed is over, and proven where a test shows it.
workflow plan
proof new-test
item a
EXECUTE says TASK_COMPLETE
VERIFY says passed
expect completed
expect exit 0
expect verified
