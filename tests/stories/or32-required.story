# A gate that is required is asked in every mode, whatever the change touches.
workflow engineering
mode autonomous none
required security
from VALIDATE
VALIDATE says done tests 1/1 x4
expect waiting "security team"
