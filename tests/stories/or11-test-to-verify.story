workflow engineering
from TEST
item a
TEST says done tests 3/4
expect TEST
expect failures 1
