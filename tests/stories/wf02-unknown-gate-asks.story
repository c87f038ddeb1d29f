# In a gate's condition unknown counts as true.
workflow engineering
item a
mode hybrid none
world schema_changes=unknown
from IMPLEMENT
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1 with schema_changes=maybe
expect waiting "migrates the database"
