# An edit of the locked design is a warning.
workflow ralph
WORK is silent tests 1/2 with input_changed=true
expect WORK iteration 1
expect warning "locked input was changed"
