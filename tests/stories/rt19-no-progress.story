# Two turns without a changed file, a commit or a test less that fails. A promise in between is none.
workflow ralph
WORK is silent tests 2/2 with files_changed=0 commits_made=0
expect running
WORK says done tests 2/2 with files_changed=0 commits_made=0 tree_clean=false
expect halted "no progress in 2 iterations"
