# The first tests of the run are progress without a report too; as many as before are none.
workflow tdd
criteria 9
RED is silent tests 0/3
RED is silent tests 0/3
RED is silent tests 0/3
expect breaker half-open
RED is silent tests 0/3
expect breaker open
