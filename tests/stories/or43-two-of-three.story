# Capabilities that are done stay done.
workflow engineering
item a
item b
item c
from IMPLEMENT
IMPLEMENT says done
TEST says done tests 1/1
VERIFY says done tests 1/1
IMPLEMENT says done
TEST says done tests 2/2
VERIFY says done tests 2/2
expect items done 2
expect item c
person pauses
expect paused
person resumes
expect item c
expect items done 2
