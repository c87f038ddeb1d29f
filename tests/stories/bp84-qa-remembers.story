# What a review found is told to whoever repairs it, in every iteration, and to the next review.
workflow tdd
from     QA

QA    says REJECT tests 10/10 blocking_issues=2 summary "two things" blocker "greets nobody" blocker "no ADR"
expect GREEN iteration 0
GREEN says nothing tests 9/10
expect prompt "greets nobody"
expect prompt "QA has rejected this work once"
expect no prompt "said that it is done, but it is not"
GREEN says done   tests 10/10                # its own feedback does not push the findings out
expect prompt "tests: 1 of 10 failed: young 1"
expect prompt "greets nobody"
expect QA
QA    says REJECT tests 10/10 blocking_issues=1 blocker "no ADR"
expect prompt "These are your own findings"
expect prompt "greets nobody"
expect prompt "This is attempt 2 of 3"
GREEN says done   tests 10/10
expect prompt "QA has rejected this work 2 times"
expect prompt "no ADR"
expect no prompt "greets nobody"
QA    says APPROVE tests 10/10 blocking_issues=0
expect prompt "no ADR"
expect completed
