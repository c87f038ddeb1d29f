# Nothing that only we can know is taken from a report (G21).
workflow ralph
WORK says done checks_failing=0 tree_clean=true criteria_open=0 iteration=9 tests_ok=true tests 1/2 with tree_clean=false criteria_open=2
expect WORK iteration 1
expect metric checks_failing=1
expect metric tree_clean=false
expect metric iteration=1
expect metric tests_ok=false
expect claimed tree_clean=true
