# One yes holds until the window ends; the counter goes on, and then the window counts again.
workflow tdd
limit window 2 ask
criteria 9
RED says nothing tests 0/1
RED says nothing tests 0/2
expect paused
person answers continue
expect warning "beyond the window's limit"
RED says nothing tests 0/3
RED says nothing tests 0/4
expect RED iteration 4
later 60m
RED says nothing tests 0/5
RED says nothing tests 0/6
expect paused
person answers abort
expect paused "aborted by user"
expect exit 5
person resumes
expect paused "2 of 2 calls used"
