//! The examples at the end of every `--help`: what people type, each with what it does.

pub(super) const DEMO: &str = r#"Examples:
  loop demo                    ralph: the agent lies once and is caught
  loop demo tdd                five phases, and a lie about passing tests
  loop demo -q --json          for a program"#;
pub(super) const SETUP: &str = r#"Examples:
  loop setup                   asks three things on a terminal; Enter takes what was found
  loop setup tdd --yes         asks nothing
  loop setup ralph --full      the whole preset with its prompts"#;
pub(super) const CHECK: &str = r#"Examples:
  loop check                   the workflow of this project
  loop check my.toml           any file
  loop check --preset plan     a built-in one
  loop check --schema > workflow.schema.json"#;
pub(super) const PRESETS: &str = r#"Examples:
  loop presets                 what there is
  loop presets show tdd        its file
  loop presets show tdd --prompts"#;
pub(super) const SIMULATE: &str = r#"Examples:
  loop simulate --preset tdd               everything goes well
  loop simulate --preset tdd --seed 7      random; the same number gives the same sequence
  loop simulate --story caught.story       what agents, checks and people do, line by line"#;
pub(super) const RUN: &str = r#"Examples:
  loop run "fix the date parser"                         writes the sentence to a design, then runs
  loop run docs/PRPs/login.md                            success criteria: the preset tdd
  loop run "fix it" --check tests="npm test" -n 10       this check, at most 10 iterations
  loop run "fix it" --agent-cmd "./agent.sh --fast"      any program is an agent
  loop run                                               continue the unfinished run
  loop run --budget 10                                   continue, and let it spend more
  loop run --jobs 3                                      three systems of the queue at once
  loop run "fix it" --on-question wait --notify 'mail -s "$LOOP_STATUS" me@example.com </dev/null'"#;
pub(super) const INIT: &str = r#"Examples:
  loop init                              the same as loop setup
  loop init DESIGN-20260101-parser.md    open it; loop run drives it
  loop init --hook "fix the parser"      the agent's own session works on it"#;
pub(super) const RESUME: &str = r#"Examples:
  loop resume                      continue without asking
  loop resume --reset              counters at 0, to retry a halted run
  loop resume --state GREEN        from this phase, which was reached before
  loop resume --max 40             continue a capped run with a higher cap"#;
pub(super) const NEXT: &str = r#"Examples:
  loop next                        one iteration, then it stops
  while loop next --json | tail -n 1 | grep -q '"next_step":"loop next'; do :; done   until it ends, waits or needs you"#;
pub(super) const ATTACH: &str = r#"Examples:
  loop attach              the live view of the run that works in this project
  loop attach --run 1f3c   of another one; Ctrl-C leaves it alone"#;
pub(super) const WAIT: &str = r#"Examples:
  loop wait                exits with the code of the run
  loop wait --run 1f3c"#;
pub(super) const STATUS: &str = r#"Examples:
  loop status
  loop status --json | jq .question
  loop status --run 1a2b3c4d"#;
pub(super) const RUNS: &str = r#"Examples:
  loop runs
  loop runs --limit 200 --json
  loop runs --prune              delete what is completed or cancelled"#;
pub(super) const LOG: &str = r#"Examples:
  loop log
  loop log -n 20                 the last 20 lines
  loop log --since 10m           what happened in the last ten minutes
  loop log -f                    follow events as they come
  loop log --json | jq -c .event"#;
pub(super) const SHOW: &str = r#"Examples:
  loop show                      the whole run as a Markdown report
  loop show 3                    call 3: what happened, its prompt, its output, its checks
  loop show 3 --diff             what call 3 changed
  loop show --diff               what the open question about the proof is about
  loop show 3 --prompt > prompt.md"#;
pub(super) const WHY: &str = r#"Examples:
  loop why                       the last judgement
  loop why 42                    event 42, as loop log numbers it"#;
pub(super) const ANSWER: &str = r#"Examples:
  loop answer                            which questions are open
  loop answer reset                      the only open question
  loop answer modify "use the standard library"
  loop answer 3 skip                     question 3
  loop answer waive "the feature is gone"    accept what the proof found
  loop answer accept "read it myself"        accept a run that nothing measures"#;
pub(super) const APPROVE: &str = r#"Examples:
  loop approve
  loop approve deploy --by anna"#;
pub(super) const CHANGES: &str = r#"Examples:
  loop changes "rename the flag"
  loop changes deploy "rename the flag""#;
pub(super) const REJECT: &str = r#"Examples:
  loop reject
  loop reject deploy "not this quarter""#;
pub(super) const GUIDE: &str = r#"Examples:
  loop guide "the parser must stay allocation free""#;
pub(super) const SKIP: &str = r#"Examples:
  loop skip security-scan --reason "no code of ours is reachable""#;
pub(super) const WAIVE: &str = r#"Examples:
  loop waive tests/test_old.py --reason "the old format is gone"
  loop waive 'tests/**' --reason "renamed with the module"
  loop answer waive "the feature is deleted"    all of them"#;
pub(super) const CHECKS: &str = r#"Examples:
  loop checks
  loop checks --check tests="npm test" --json"#;
pub(super) const STOP: &str = r#"Examples:
  loop stop                      after this iteration
  loop stop --now                end the call at once; the run can be resumed"#;
pub(super) const PAUSE: &str = r#"Examples:
  loop pause                     the same as loop stop --now
  loop run                       continue"#;
pub(super) const CANCEL: &str = r#"Examples:
  loop cancel                    asks on a terminal
  loop cancel --yes --run 1a2b3c4d"#;
pub(super) const DESIGN: &str = r#"Examples:
  loop design "a parser for dates"
  loop design "a parser for dates" --type feature"#;
pub(super) const REFINE: &str = r#"Examples:
  loop refine --add "rejects the 30th of February"
  loop refine --remove "rejects the 30th""#;
pub(super) const RESTORE: &str = r#"Examples:
  loop restore                   which snapshots there are
  loop restore 4 --dry-run       which files this would write
  loop restore 4                 bring back the files of snapshot 4"#;
pub(super) const SHIP: &str = r#"Examples:
  loop ship --dry-run            what would be done
  loop ship                      branch, commit, push, pull request
  loop ship --no-pr --type fix"#;
pub(super) const VERIFY: &str = r#"Examples:
  loop verify
  loop verify --backup loop-backup.db
  loop verify record.json --signers approvers --rerun"#;

pub(super) const EVIDENCE: &str = r#"Examples:
  loop evidence
  loop evidence --json > record.json"#;
pub(super) const DOCTOR: &str = r#"Examples:
  loop doctor
  loop doctor --fix              repair what can be repaired without a decision
  loop doctor --json | jq '.[] | select(.ok | not)'"#;
pub(super) const AGENTS: &str = r#"Examples:
  loop agents
  loop agents test codex         which of its abilities work here, without a key
  loop run "fix it" --agent codex"#;
pub(super) const LIMITS: &str = r#"Examples:
  loop limits
  loop limits --clear claude     ask the provider again at once"#;
pub(super) const COMPLETIONS: &str = r#"Examples:
  loop completions bash > ~/.local/share/bash-completion/completions/loop
  loop completions zsh > "${fpath[1]}/_loop"
  loop completions fish > ~/.config/fish/completions/loop.fish"#;
pub(super) const MAN: &str = r#"Examples:
  loop man ~/.local/share/man/man1"#;
pub(super) const QUEUE: &str = r#"Examples:
  loop queue                     the systems, and what they wait for
  loop queue add "Work orders" --needs sys-001 --capability create --capability assign
  loop queue set sys-002 --priority 1
  loop queue next"#;
