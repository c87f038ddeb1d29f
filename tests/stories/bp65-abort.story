workflow tdd
from GREEN
GREEN says nothing tests 1/2 x3
person answers abort
expect halted "aborted by user"
expect exit 4
expect phase GREEN active iterations 3
person resumes
expect halted "GREEN: "
