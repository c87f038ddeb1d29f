# A claim does not fill in for what nobody could look at.
workflow engineering
world pr_merged=unknown
mode autonomous none
from SHIP
SHIP says done
SHIP says done pr_merged=true
expect waiting "merged"
