# A stop ends a wait for the provider too.
workflow tdd
from GREEN
GREEN is limited
expect running "waiting until"
person stops
expect stopped
person resumes
expect running "waiting until"
