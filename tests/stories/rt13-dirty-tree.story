workflow ralph
WORK says done tests 2/2 with tree_clean=false
expect WORK iteration 1
expect why "there are uncommitted changes"
WORK says done tests 2/2
expect completed
