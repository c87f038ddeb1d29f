workflow engineering
from REVIEW
REVIEW says done tests 1/1 x2
expect waiting
later 59m
expect waiting
later 1m
expect halted "gate approval timeout: deploy"
expect exit 4
