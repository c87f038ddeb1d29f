# Once a gate was found needed it is asked again, whatever the change then looks like (2.7-6).
workflow engineering
item a
world schema_changes=true
from IMPLEMENT
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect waiting "migrates the database"
person answers changes "no migration, please"
expect IMPLEMENT
expect item "gate feedback"
world schema_changes=false
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect waiting "migrates the database"
person answers approve
expect VALIDATE
