# A skill without its deliverable is not done.
workflow engineering
deliverable document docs/api.md
from DOCUMENT
DOCUMENT document says done tests 1/1 misses docs/api.md
expect DOCUMENT
expect why "missing: docs/api.md"
expect failures 1
DOCUMENT debug-assist says done
DOCUMENT document says done tests 1/1
expect REVIEW
