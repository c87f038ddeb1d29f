# Nobody says which model GREEN runs with: it is taken for sonnet, so QA asks for opus.
workflow tdd
from QA
QA says nothing tests 1/1
expect model opus
