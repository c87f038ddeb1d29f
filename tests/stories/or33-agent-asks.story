# An agent can add a gate, which is asked at its own boundary, and cannot take one away.
workflow engineering
item a
mode autonomous deploy
from IMPLEMENT
IMPLEMENT says done gate security
expect TEST
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
expect waiting "security team"
person answers approve
DOCUMENT  says done tests 1/1 gate specification
expect waiting "specification"
person answers approve
expect REVIEW
