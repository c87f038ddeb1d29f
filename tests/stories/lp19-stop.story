# A stop lets the running iteration finish; the next start goes on with its number.
workflow plan
item a
item b
item c
EXECUTE says TASK_COMPLETE
person stops
expect stopped "asked to stop"
expect exit 5
expect calls 1
person resumes                           # LP-22
EXECUTE says TASK_COMPLETE
expect iterations 2
expect calls 2
