# A task that a person lets go is done with; the run is not verified then.
workflow plan
item a
item b
EXECUTE is silent x3
expect halted
person answers skip
expect item b
expect unverified
EXECUTE says TASK_COMPLETE
VERIFY says passed
expect completed "not proven"
