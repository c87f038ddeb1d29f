# LP-28: what only a person can verify waits for one.
workflow plan
world autonomous=false
from VERIFY
VERIFY says human_needed
expect waiting "only a person can verify"
expect exit 3
person answers approve
expect completed
