# A hold that a person lifts ends the wait at once.
workflow ralph
WORK is limited 90m
expect calls 1
person unholds
WORK says done
expect completed
