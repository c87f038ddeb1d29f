# STUCK halts at once and is no failure of the counter.
workflow plan
item a
EXECUTE is silent
EXECUTE is stuck "db: no schema"
expect halted "db: no schema"
expect exit 4
expect EXECUTE iteration 2
person answers modify "the schema is in db/"
EXECUTE is silent
expect prompt "the schema is in db/"
EXECUTE is silent
expect EXECUTE iteration 4
