# What is missing and not needed is a warning, and the run continues.
workflow plan
item a
noted ".planning/LEARNINGS.md is missing"
EXECUTE says TASK_COMPLETE
expect warning "LEARNINGS.md is missing"
VERIFY says passed
expect completed
