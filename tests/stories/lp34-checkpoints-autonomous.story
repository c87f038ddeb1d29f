# What has to be looked at is settled where every check passes, and said before it goes on.
workflow plan
world autonomous=true
item a
EXECUTE is at human-verify
expect running
expect warning "Auto-decided: approved"
EXECUTE is at human-verify validation fails "exit status 1"
expect waiting "needs a person (human-verify)"
