workflow engineering
mode supervised
item a
from SCAFFOLD
SCAFFOLD  says done x4
expect waiting "tech lead"
person answers approve
IMPLEMENT says done
TEST      says done tests 1/1
VERIFY    says done tests 1/1
VALIDATE  says done tests 1/1 x4
expect waiting "security team"
person answers approve
DOCUMENT  says done tests 1/1
REVIEW    says done tests 1/1 x2
expect waiting "release manager"
