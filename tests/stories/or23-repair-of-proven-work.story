# Work that is proven gets no further commit, so nobody who looks at a failure is told to make one.
workflow engineering
deliverable deploy docs/deploy.md
from SHIP
SHIP deploy says done misses docs/deploy.md
SHIP debug-assist says done with tree_clean=false
expect prompt "change no code and commit nothing"
expect no prompt "Commit the repair on its own"
SHIP deploy says done
expect no prompt "commit the repair first"
expect no prompt "committed no repair"
