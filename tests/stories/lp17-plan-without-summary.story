# PLAN_COMPLETE needs the summary, whatever was committed; a summary of an earlier session will do.
workflow plan
item a
EXECUTE says PLAN_COMPLETE with item_commits=1 plan_summarised=false
expect EXECUTE iteration 1
expect item a
expect why "said PLAN_COMPLETE, but the plan has no summary"
EXECUTE says PLAN_COMPLETE with item_commits=0 plan_summarised=true
expect VERIFY
