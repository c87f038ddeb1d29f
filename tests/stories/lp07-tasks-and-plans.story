# One task after the other; a plan is complete with its summary, the phase with its last plan (LP-08).
workflow plan
proof new-test
item 01-01/1
item 01-01/2
item 01-02/1
EXECUTE says TASK_COMPLETE commit=abc1234 commit abc1234def
expect item 01-01/2
expect items done 1
EXECUTE says PLAN_COMPLETE with plan_summarised=true
expect item 01-02/1
EXECUTE says PLAN_COMPLETE with plan_summarised=true item_commits=0
expect VERIFY
expect phase EXECUTE completed
VERIFY says passed
expect completed
expect verified
