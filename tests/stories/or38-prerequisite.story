# What a skill needs is asked once, before its first call; the answer is in its prompt.
workflow engineering
needs deploy
from SHIP
expect waiting "the skill deploy needs a deploy target"
expect exit 3
expect calls 0
person answers command "npm publish"
SHIP deploy says done
expect prompt "Its target: npm publish"
SHIP git-workflow says done
expect COMPLETE
