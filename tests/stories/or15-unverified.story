workflow engineering
unverified
item a
check tests absent
from TEST
TEST says done
expect VERIFY
