# Work of a finished task that a call takes away is done again, in the verifier's own call too.
workflow plan
proof new-test
item a
item b
item c
EXECUTE says TASK_COMPLETE
EXECUTE says TASK_COMPLETE loses a
expect item a
expect warning "a is open again"
EXECUTE says TASK_COMPLETE
EXECUTE says TASK_COMPLETE
expect VERIFY
expect items done 3
VERIFY says passed loses b
expect EXECUTE
EXECUTE says TASK_COMPLETE
expect prompt "the work of b, which was done, is gone"
expect item b
EXECUTE says TASK_COMPLETE
VERIFY says passed
expect completed
expect verified
