workflow tdd
criteria 9
RED says nothing tests 0/1
person pauses
expect paused "User interrupt"
expect exit 5
person resumes
RED says nothing tests 0/2
expect RED iteration 2
person cancels
expect cancelled
expect exit 5
person resumes
expect cancelled
expect warning "nothing can be changed"
