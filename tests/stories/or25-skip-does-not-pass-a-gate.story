# A phase may be let go, a gate may not (2.7-23).
workflow two-stages
BUILD says nothing with tree_changed=false files_changed=0 commits_made=0 x4
expect halted
person answers skip "good enough"
expect waiting "Does it look right?"
person answers approve
expect POLISH
expect phase BUILD forced
expect unverified
