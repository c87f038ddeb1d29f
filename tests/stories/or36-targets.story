# Performance targets: none stated is shown, stated ones must be met.
workflow engineering
mode autonomous none
item a
check perf absent
from VALIDATE
VALIDATE says done x3
VALIDATE perf-analysis says done tests 1/1 perf_targets_total=2
expect VALIDATE
VALIDATE debug-assist says done
VALIDATE perf-analysis says done tests 1/1 perf_targets_total=2 perf_targets_met=true
expect DOCUMENT
