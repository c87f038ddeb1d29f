# Validation is run again after the claim, and its output is in the next prompt.
workflow plan
item a
EXECUTE says TASK_COMPLETE validation fails "exit status 2"
expect EXECUTE iteration 1
expect item a
EXECUTE says TASK_COMPLETE
expect prompt "exit status 2"
expect VERIFY
