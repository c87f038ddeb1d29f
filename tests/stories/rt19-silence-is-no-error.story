# A turn without a promise is the usual case and no missing report.
workflow ralph
WORK is silent tests 2/2 x5
expect WORK iteration 5
expect errors 0
expect breaker closed
