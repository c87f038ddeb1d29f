# A promise that the checks do not confirm is noted; their output is in the next prompt.
workflow ralph
WORK says done tests 1/2 build fails "error: x"
expect WORK iteration 1
expect note "said that it is done"
WORK says done tests 2/2
expect prompt "error: x"
expect completed
