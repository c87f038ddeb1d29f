workflow plan
world autonomous=true
from VERIFY
VERIFY says human_needed
expect completed
