# RED done (10 of 100) and five of ten assumed iterations of GREEN (45 of 100): 32.5, cut.
workflow tdd
from GREEN
limit phase 50
GREEN says nothing tests 1/9
GREEN says nothing tests 2/9
GREEN says nothing tests 3/9
GREEN says nothing tests 4/9
GREEN says nothing tests 5/9
expect percent 32
GREEN says nothing tests 6/9
GREEN says nothing tests 7/9
GREEN says nothing tests 8/9
expect percent 46
