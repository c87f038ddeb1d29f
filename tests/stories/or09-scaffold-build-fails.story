# The build fails: SCAFFOLD is not left; the failure is looked at and the stage runs again (OR-23).
workflow engineering
from SCAFFOLD
SCAFFOLD says done x3
SCAFFOLD git-workflow says done build fails "error: no crate"
expect SCAFFOLD
expect failures 1
expect retries 1
SCAFFOLD debug-assist says done summary "the crate was not in the workspace"
expect prompt "error: no crate"
SCAFFOLD git-workflow says done
expect IMPLEMENT
expect retries 0
expect failures 1
expect resolved 1
