workflow engineering
item a
from IMPLEMENT
IMPLEMENT fails "connection refused"
later 1s
IMPLEMENT implement says done            # no debug-assist: nothing of ours failed
expect TEST
expect retries 0
expect resolved 1
