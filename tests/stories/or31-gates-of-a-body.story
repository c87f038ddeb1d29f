# The gates of the last stage of the body are asked when no capability is left, not for each.
workflow engineering
item a
item b
world schema_changes=true external_apis=true
from IMPLEMENT
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect IMPLEMENT
expect item b
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
expect waiting "migrates the database"
expect VERIFY
person answers approve
expect waiting "third parties"
person answers approve
expect VALIDATE
