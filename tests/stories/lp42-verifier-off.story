# Without a verifier the phase ends unverified, and nobody verifies.
workflow plan
off VERIFY "workflow.verifier is false"
item a
EXECUTE says TASK_COMPLETE
expect completed
expect calls 1
expect unverified
expect phase VERIFY skipped
expect warning "VERIFY is off: workflow.verifier is false"
