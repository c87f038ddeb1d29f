workflow plan
threshold failures 1
item a
EXECUTE is silent
expect halted "an iteration without a confirmed result"
