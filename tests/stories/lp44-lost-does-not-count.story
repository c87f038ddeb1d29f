# A call that nobody knows the end of is undone: it is a call, not an iteration, and no failure.
workflow plan
item a
EXECUTE is lost
expect calls 1
expect EXECUTE iteration 0
expect warning "is lost and does not count"
EXECUTE says TASK_COMPLETE
expect VERIFY
