# What only a person can do waits for a person, autonomous or not.
workflow plan
world autonomous=true
item a
EXECUTE is at human-action
expect waiting "needs a person (human-action)"
expect exit 3
expect item a
person answers done "the account exists"
EXECUTE says TASK_COMPLETE
expect prompt "the account exists"
expect VERIFY
