# Weights are equal where none are given.
workflow two-stages
BUILD says done size=1
person answers approve
expect POLISH
expect percent 50
