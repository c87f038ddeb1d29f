# Autonomous: what the change touches is only recorded; deploy is still asked.
workflow engineering
mode autonomous
item a
world schema_changes=true external_apis=true touches_security=true new_patterns=true
from SCAFFOLD
SCAFFOLD  says done x4
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
expect waiting "Ship it?"
