# Without it the skill is skipped.
workflow engineering
needs deploy
from SHIP
expect waiting
person answers skip
SHIP git-workflow says done
expect COMPLETE
