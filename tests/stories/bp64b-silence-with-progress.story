# What is measured counts without a report too.
workflow tdd
from GREEN
GREEN is silent tests 3/10
GREEN is silent tests 4/10
expect breaker closed
