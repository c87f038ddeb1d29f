# A suite that fails is RED's aim; a build that fails is an error and keeps the phase (rule 7).
workflow tdd
criteria 2
RED says done tests 0/2 build fails "error: expected ;"
expect RED iteration 1
expect metric checks_failing=1
expect why "build: error: expected ;"
expect errors 1
RED says nothing tests 0/2 tests fails "compile error"
expect metric checks_failing=0
RED says done tests fails "the suite does not compile"
expect RED iteration 3
expect metric checks_failing=1
RED says done tests 0/2
expect GREEN
