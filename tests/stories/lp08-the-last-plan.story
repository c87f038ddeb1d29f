# The last plan of the phase calls the verifier, and nothing else does.
workflow plan
item a
item b
EXECUTE says TASK_COMPLETE
expect EXECUTE
expect no prompt "Verify phase"
EXECUTE says PLAN_COMPLETE with plan_summarised=true
expect VERIFY
VERIFY is silent
expect prompt "Verify phase"
