workflow plan
profile budget
from VERIFY
VERIFY is silent
expect model haiku
