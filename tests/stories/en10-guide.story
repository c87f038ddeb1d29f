# Guidance is for the next prompt, and for that one only.
workflow tdd
criteria 9
person guides "mind the time zones"
RED says nothing tests 0/1
expect prompt "mind the time zones"
RED says nothing tests 0/2
expect no prompt "mind the time zones"
