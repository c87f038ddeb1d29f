# What is down is tried again after 1, 2, 4, 8 and 16 seconds, whatever it says; then it blocks.
workflow engineering
item a
from IMPLEMENT
IMPLEMENT fails "connection refused"
expect running "waiting until 2026-01-05T08:01:01Z"
later 1s
IMPLEMENT fails "connection refused"
expect running "waiting until 2026-01-05T08:02:03Z"
later 2s
IMPLEMENT fails "connection reset"
later 3s
expect running "waiting until"
later 1s
IMPLEMENT fails "connection refused"
later 8s
IMPLEMENT fails "connection refused"
later 15s
expect running "waiting until"
later 1s
IMPLEMENT fails "connection refused"
expect halted "tried again 5 times"
expect calls 6
