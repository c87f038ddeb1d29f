# QA sends the work back twice; the third rejection asks a person.
workflow tdd
proof new-test
from     QA

QA    says REJECT tests 10/10 blocking_issues=1
expect GREEN iteration 0
GREEN says done   tests 10/10
QA    says REJECT tests 10/10 blocking_issues=1
GREEN says done   tests 10/10
QA    says REJECT tests 10/10 blocking_issues=1
expect waiting "rejected the work 3 times"
person answers fix "the API must stay compatible"
expect GREEN
GREEN says done   tests 10/10
expect prompt "the API must stay compatible"
expect prompt "QA has rejected this work, and a person has said how to continue"
QA    says APPROVE tests 10/10 blocking_issues=0
expect completed
expect verified
