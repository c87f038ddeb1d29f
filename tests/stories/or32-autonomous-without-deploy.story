workflow engineering
mode autonomous none
from REVIEW
REVIEW says done tests 1/1 x2
expect SHIP
