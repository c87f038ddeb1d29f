# Without another number a phase has 50 iterations.
workflow plan
threshold failures 60
item a
EXECUTE is silent x50
expect capped "50 of 50 iterations used"
expect calls 50
