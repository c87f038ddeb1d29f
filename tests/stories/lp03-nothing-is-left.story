# A phase without plans is refused before anything begins. Where every plan has its summary there is no task
# left either, and the verifier is called at once.
workflow plan
before done a b
item a
item b
expect calls 0
expect VERIFY
expect reason EXECUTE "the exit rule was met"
VERIFY says passed
expect completed
expect calls 1
