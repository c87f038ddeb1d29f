# SHIP is left when the pull request is merged; until then the run waits and calls nobody.
workflow engineering
world pr_merged=false
from SHIP
SHIP deploy says done
SHIP git-workflow says done
expect waiting "the pull request is not merged"
expect exit 3
expect SHIP
person resumes
expect waiting "the pull request is not merged"
expect calls 2
world pr_merged=true
person resumes
expect COMPLETE
expect calls 2
COMPLETE says done x3
expect completed
