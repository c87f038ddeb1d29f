# A person lets it go; the approval is recorded with a name.
workflow engineering
from REVIEW
REVIEW says done tests 1/1 x2
expect waiting "Ship it? (release manager)"
expect exit 3
person answers approve
expect SHIP
