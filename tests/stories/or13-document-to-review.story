workflow engineering
from DOCUMENT
DOCUMENT says done tests 3/4
expect DOCUMENT
expect failures 1
