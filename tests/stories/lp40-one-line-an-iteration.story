# Each iteration leaves one line: confirmed, not confirmed, stuck.
workflow plan
item a
item b
EXECUTE says TASK_COMPLETE commit=abc1234 commit abc1234def
EXECUTE says TASK_COMPLETE with item_commits=0
EXECUTE is stuck "no disk"
expect iterations 3
expect halted "no disk"
