workflow plan
threshold failures 1
item a
EXECUTE is silent
expect halted "iteration without a result that held"
