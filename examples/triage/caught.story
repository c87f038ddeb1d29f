# The agent says that it is done when it is not, is caught by the tests, and
# once by the review; a person lets the fix go.
workflow workflow.toml
baseline  tests 1/1

REPRODUCE says done    tests 1/1                     # no failing test: not left
REPRODUCE says done    tests 1/2
expect EXPLAIN
EXPLAIN   says done    misses incidents/*.md cause_found=true
expect EXPLAIN iteration 1
EXPLAIN   says done    cause_found=true
FIX       says done    tests 1/2                     # a claim that the tests do not confirm
expect FIX iteration 1
FIX       says done    tests 2/2
REVIEW    says CHANGES tests 2/2
expect FIX iteration 0
FIX       says done    tests 2/2
REVIEW    says APPROVE tests 2/2
expect waiting "Let it go?"
person answers approve
expect completed
expect verified
