workflow ralph
halts-on-edit
WORK says done tests 2/2 with input_changed=true
expect halted "the locked input was changed"
expect exit 4
person answers modify "leave the design alone"
WORK says done tests 2/2
expect completed
