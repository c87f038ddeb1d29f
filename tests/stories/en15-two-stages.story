# A workflow of two phases and a gate needs no preset; what has no numbers of its own opens at 3 (BP-54).
workflow two-stages
BUILD  says nothing size=80
expect BUILD iteration 1
BUILD  says done size=80
expect waiting "Does it look right?"
person answers changes "the margins"
expect BUILD iteration 0
BUILD  says done size=80
expect prompt "the margins"
person answers approve
POLISH says WORSE
expect BUILD
BUILD  says done size=80
person answers approve
POLISH says WORSE
expect halted "POLISH rejected the work 2 times"
person answers reset
POLISH says done
expect completed
expect percent 100
