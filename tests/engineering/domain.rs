//! A domain whose systems are small: one call builds a system, one ships it. Its agent finds out from the branch
//! which system it works on, and waits at a pipe where the test made one.

use loop_harness::{Fifo, Running, Sandbox, within};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const WORKFLOW: &str = r#"
name  = "small"
about = "A system in two calls"
mode  = "autonomous"
input = { kind = "job", about = "system to build" }

[workspace]
at      = "worktree"
branch  = "feature/{{ job.slug }}"
cleanup = true

[agent]
report = "json"
signal = "none"

[checks.tests]
run    = "sh test.sh"
counts = "tap"

[retries]
at_most    = 3
same_error = 3
total      = 10
never      = ["ambiguous"]

[[phase]]
name    = "BUILD"
goal    = "The code"
prompt  = "Build it."
checks  = ["tests"]
require = ["tests"]
exit    = "checks_failing == 0 && tree_clean"

[[phase]]
name   = "SHIP"
goal   = "The work merged"
prompt = "Say what a reviewer has to know."
exit   = "pr_merged"

[gates.deploy]
at         = "BUILD"
ask        = "Ship it?"
by         = "release manager"
changes_to = "BUILD"

[gates.security]
at         = "BUILD"
ask        = "Is this change safe?"
by         = "security team"
changes_to = "BUILD"

[modes.autonomous]
gates = []

[modes.supervised]
gates = ["deploy"]

[modes.hybrid]
gates = ["security"]

[proof]
at = "BUILD"
go = "BUILD"

[mirror]
format = "domain-memory"
"#;

/// Every test is a script in `tests/`, and a line of TAP.
const TEST: &str = r#"n=0; bad=0
for it in tests/*.sh; do
    n=$((n+1))
    if sh "$it"; then echo "ok $n - $it"; else echo "not ok $n - $it"; bad=1; fi
done
echo 1..$n
exit $bad
"#;

/// Words of shell that the agents of these tests are made of. `$here` is told of every call that waits.
const WORDS: &str = r#"
id=$(git branch --show-current); id=${id##*/}
say() { printf -- 'Done.\n\n```json\n{"status":"%s","summary":"%s"}\n```\n' "$1" "$2"; }
stuck() { printf -- 'No.\n\n```json\n{"status":"failed","error":{"class":"ambiguous","text":"%s"}}\n```\n' "$1"; }
hold() { if [ -p "$OUT/go-$id" ]; then echo "$id" > "$OUT/here"; read -r _ < "$OUT/go-$id"; fi; }
build() { echo "$id" > "$id.txt"; echo "grep -qx $id $id.txt" > "tests/$id.sh"; git add -A; git commit -qm "feat: $id"; }
honest() { case $LOOP_PHASE in BUILD) echo "$id" >> "$OUT/built"; hold; build;; esac; say done "$LOOP_PHASE"; }
"#;

pub(crate) struct Domain {
    pub(crate) sandbox: Sandbox,
    /// Names every system whose call waits.
    here: Fifo,
}

/// A system of the queue: its id is its name, so that its branch names it.
pub(crate) fn system(id: &str, priority: u32, needs: &[&str]) -> Value {
    json!({ "id": id, "name": id, "status": "specified", "dependencies": needs, "priority": priority,
        "capabilities": ["all"] })
}

impl Domain {
    pub(crate) fn new(systems: &[Value]) -> Domain {
        let sandbox = Sandbox::new();
        sandbox.write("test.sh", TEST);
        sandbox.write("tests/base.sh", "true\n");
        sandbox.write(".loop/workflow.toml", WORKFLOW);
        let queue = json!({ "domain": "shop", "systems": systems });
        sandbox.write("domain-memory/shop/system-queue.json", queue.to_string());
        sandbox.commit("a project");
        let here = sandbox.fifo("here");
        Domain { sandbox, here }
    }

    /// Has the calls of a system wait; the pipe lets one go on.
    pub(crate) fn held(&self, id: &str) -> Fifo {
        self.sandbox.fifo(&format!("go-{id}"))
    }

    /// Waits for the next call that waits, and returns its system.
    pub(crate) fn hear(&self) -> String {
        self.here.hear()
    }

    pub(crate) fn agent(&self, script: &str) -> String {
        self.sandbox.agent(&format!("{WORDS}\n{script}"))
    }

    /// Starts a pool with an agent.
    pub(crate) fn pool(&self, jobs: u32, script: &str, more: &[&str]) -> Running {
        let (agent, jobs) = (self.agent(script), jobs.to_string());
        let mut arguments = vec!["run", "--jobs", &jobs, "--agent-cmd", &agent];
        arguments.extend(more);
        self.sandbox.spawn(&arguments)
    }

    /// The runs of the pool, as `loop status` has them.
    pub(crate) fn runs(&self) -> Vec<Value> {
        let status = self.sandbox.status_if_any();
        status["pool"]["runs"].as_array().cloned().unwrap_or_default()
    }

    /// The run of a system, once it has this status.
    #[track_caller]
    pub(crate) fn run_that_is(&self, id: &str, status: &str) -> String {
        let find = || self.runs().into_iter().find(|it| it["system"] == id && it["status"] == status);
        assert!(
            within(loop_harness::PATIENCE, || find().is_some()),
            "{id} is not {status}: {:?}",
            self.runs()
        );
        find().expect("a run")["run"].as_str().expect("an id").to_owned()
    }

    /// Kills the controller of a system's run together with the agent of its call.
    pub(crate) fn kill_all_of(&self, id: &str) {
        let run = self.run_that_is(id, "running");
        let place = self.sandbox.project.join(format!(".worktrees/feature-{id}"));
        let place = std::fs::canonicalize(place).expect("a worktree");
        let (mut controllers, mut others) = (Vec::new(), Vec::new());
        for (pid, words) in self.sandbox.processes() {
            if words.contains("__controller") && words.contains(&run) {
                controllers.push(pid);
            } else if std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|it| it == place) {
                others.push(pid);
            }
        }
        assert_eq!((controllers.len(), others.is_empty()), (1, false), "{others:?}");
        for pid in controllers.into_iter().chain(others) {
            // Whoever ends with its parent may be gone.
            let _gone = Pid::from_raw(pid).map(|it| kill_process(it, Signal::KILL));
        }
    }

    /// A system as the queue's file has it.
    pub(crate) fn system(&self, id: &str) -> Value {
        let text = self.sandbox.read("domain-memory/shop/system-queue.json");
        let queue: Value = serde_json::from_str(&text).expect("JSON");
        let systems = queue["systems"].as_array().expect("systems").clone();
        systems.into_iter().find(|it| it["id"] == id).expect("a system")
    }

    /// Waits until a system is complete.
    #[track_caller]
    pub(crate) fn until_complete(&self, id: &str) {
        let is_complete = || self.system(id)["status"] == "complete";
        assert!(within(loop_harness::PATIENCE, is_complete), "{id}: {:?}", self.runs());
    }

    /// The systems in the order in which agents began to build them.
    pub(crate) fn built(&self) -> Vec<String> {
        self.sandbox.notes("built")
    }

    /// Whether nothing is left: no process, no worktree, and no claim of a system that is not complete.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        self.sandbox.assert_nothing_runs();
        assert_eq!(self.sandbox.git(&["worktree", "list"]).lines().count(), 1);
    }
}
