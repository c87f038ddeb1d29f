# PHASE_COMPLETE with plans left goes on with the next task; without a commit it is a failure.
workflow plan
item a
item b
EXECUTE says PHASE_COMPLETE with item_commits=0
expect item a
EXECUTE says PHASE_COMPLETE
expect item b
expect warning "PHASE_COMPLETE"
EXECUTE says PHASE_COMPLETE with plan_summarised=true
expect VERIFY
