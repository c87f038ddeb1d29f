workflow plan
item a
EXECUTE is at decision
expect waiting "checkpoint (decision)"
person answers done "take the second"
EXECUTE says TASK_COMPLETE
expect prompt "take the second"
