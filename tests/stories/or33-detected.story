# Hybrid: what the change touches adds a gate; what nobody could look at does too.
workflow engineering
item a
world new_patterns=true
from SCAFFOLD
SCAFFOLD says done x4
expect waiting "Approve the architecture?"
person answers approve
expect IMPLEMENT
