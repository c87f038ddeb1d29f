# A commit line that names another commit is a failure; a missing one is noted.
workflow plan
item a
item b
EXECUTE says TASK_COMPLETE commit=1234567 commit abcdef0123
expect EXECUTE iteration 1
expect why "the report names the commit 1234567; it is abcdef0"
EXECUTE says TASK_COMPLETE commit=abcdef0 commit abcdef0123
expect item b
EXECUTE says TASK_COMPLETE with item_commits=0
expect note "names no commit"
