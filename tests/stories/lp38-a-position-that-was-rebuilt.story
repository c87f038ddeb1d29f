# A position that was missing is rebuilt before the run begins: a warning, and the work is the same.
workflow plan
item a
noted ".planning/STATE.md was missing and is rebuilt"
expect ready
EXECUTE says TASK_COMPLETE
expect warning "STATE.md was missing"
expect VERIFY
