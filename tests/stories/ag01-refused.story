# No login, no money: waiting does not help, so a person is asked at once. The call counts, the
# iteration does not, and the breaker hears nothing of it.
workflow ralph
WORK is refused "Not logged in"
expect halted "Not logged in"
expect calls 1
expect WORK iteration 0
expect breaker closed
person answers retry
WORK says done
expect completed
