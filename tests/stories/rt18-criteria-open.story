workflow ralph
criteria 7
WORK says done tests 2/2 with criteria_open=2
expect WORK iteration 1
expect why "acceptance criteria not ticked: 2"
WORK says done criteria_open=0 tests 2/2 with criteria_open=1
expect WORK iteration 2
WORK says done tests 2/2
expect completed
