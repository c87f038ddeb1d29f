# A pass is confirmed at once, without another call: two green runs in one iteration.
workflow tdd
from GREEN
GREEN says done tests 10/10
expect REFACTOR
expect calls 1
