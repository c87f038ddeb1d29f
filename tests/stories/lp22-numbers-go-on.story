# A stop, a halt and a reset change nothing about the number of the next iteration.
workflow plan
item a
item b
EXECUTE says TASK_COMPLETE
person stops
expect stopped
person resumes
EXECUTE is silent x3
expect prompt "# Iteration 4 of phase"
expect halted
person resets
EXECUTE says TASK_COMPLETE
expect prompt "# Iteration 5 of phase"
expect VERIFY
