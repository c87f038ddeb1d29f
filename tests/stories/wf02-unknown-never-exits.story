# A name that no report brings makes the condition unknown, and unknown leaves nothing.
workflow two-stages
BUILD says done
expect BUILD iteration 1
expect why "size is not reported"
BUILD says done size=many
expect BUILD iteration 2
BUILD says done size=100
expect BUILD iteration 3
