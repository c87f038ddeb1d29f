# The promise, passing checks and a clean tree: completed in that turn.
workflow ralph
WORK says nothing tests 1/2
WORK says done tests 2/2
expect completed
expect exit 0
expect calls 2
