workflow tdd
criteria 9
RED says nothing tests 0/1 x3
expect breaker half-open
person pauses
expect paused
person resumes
expect breaker half-open
RED says nothing tests 0/1
expect halted
