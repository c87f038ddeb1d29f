workflow plan
item a
EXECUTE is at decision
expect waiting "needs a person (decision)"
person answers done "take the second"
EXECUTE says TASK_COMPLETE
expect prompt "take the second"
