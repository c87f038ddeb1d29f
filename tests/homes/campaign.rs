//! An older program begins a run and is killed at a random moment, and this one goes on with it to the
//! end: again and again, over everything that can be run. Whatever the moment, the run comes to what an
//! uninterrupted one comes to, no call is started twice, and no result is lost.

use crate::place::starts;
use loop_harness::{Done, Sandbox, SeededRandom, program};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const KILLS: u32 = 100;

/// What every agent begins with.
const AGENT: &str = r#"cat > /dev/null
echo "$LOOP_CALL" >> "$OUT/starts"
commit() { git add -A && git commit -q --allow-empty -m "$1"; }
report() {
    printf -- '---PRP_PHASE_STATUS---\nPHASE: %s\nSTATUS: IN_PROGRESS\nITERATION: %s\n' "$LOOP_PHASE" "$LOOP_ITERATION"
    cat
    printf 'EXIT_SIGNAL: true\nRECOMMENDATION: go on\n---END_PRP_PHASE_STATUS---\n'
}
"#;

const COUNTING: &str = "echo \"$LOOP_CALL\" >> steps; commit \"call $LOOP_CALL\"; printf '\\n<promise>TASK_COMPLETE</promise>\\n'\n";

const TDD: &str = r#"case "$LOOP_PHASE" in
RED) printf 'greets\nworld\n' > tests.txt; commit red; report < /dev/null ;;
GREEN) printf 'ok\nok\n' > tests.txt; commit green; report < /dev/null ;;
REFACTOR) printf 'METRICS:\n  REFACTORING_COMPLETE: true\n' | report ;;
DOCUMENT)
    mkdir -p docs/adr
    for it in overview usage parts adr/0001-one-file; do echo "= $it" > "docs/$it.md"; done
    commit docs; report < /dev/null ;;
QA) printf 'QA_METRICS:\n  BLOCKING_ISSUES: 0\nVERDICT: APPROVE\n' | report ;;
esac
"#;

const TESTS: &str = r#"n=0; bad=0
while read -r it; do
    n=$((n+1))
    if [ "$it" = ok ]; then echo "ok $n - test $n"; else bad=$((bad+1)); echo "not ok $n - $it"; fi
done < tests.txt
echo "1..$n"
[ $bad = 0 ]
"#;

const PRP: &str = "# PRP: Greetings\n\n## Goal\n\nPeople are greeted by name.\n\n## What\n\n\
    ### Success Criteria\n\n- [ ] a name is greeted\n- [ ] no name greets the world\n";

const CHORES: &str = r#"name = "chores"
input = { kind = "text", about = "whose chores" }
[checks.unit]
run = "true"
[items]
name = "chore"
from = "json:chores.json#/open"
[[phase]]
name = "DO"
each = "chore"
prompt = "Do {{ item }}."
report = "none"
signal = "none"
checks = ["unit"]
exit = "commits_made > 0"
[[phase]]
name = "LOOK"
each = "chore"
prompt = "Look at {{ item }}."
report = "json"
checks = ["unit"]
"#;

const CHORE: &str = "echo \"$LOOP_ITEM\" > \"done-$LOOP_CALL\"; commit \"$LOOP_PHASE $LOOP_ITEM\"\n\
    printf '```json\\n{\"status\":\"done\"}\\n```\\n'\n";

/// What is run.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Tdd,
    Ralph,
    RalphInWorktree,
    Items,
}

const KINDS: [Kind; 4] = [Kind::Tdd, Kind::Ralph, Kind::RalphInWorktree, Kind::Items];

impl Kind {
    fn agent(self) -> &'static str {
        match self {
            Kind::Tdd => TDD,
            Kind::Ralph | Kind::RalphInWorktree => COUNTING,
            Kind::Items => CHORE,
        }
    }

    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Tdd => &[("tests.txt", ""), ("docs/PRPs/greetings.md", PRP)],
            Kind::Ralph | Kind::RalphInWorktree => &[],
            Kind::Items => {
                &[(".loop/workflow.toml", CHORES), ("chores.json", r#"{"open": ["sweep", "mop"]}"#)]
            }
        }
    }

    fn words(self) -> &'static [&'static str] {
        const THREE: &str = "tests=[ $(wc -l < steps) -ge 3 ]";
        match self {
            Kind::Tdd => {
                &["docs/PRPs/greetings.md", "--preset", "tdd", "--check", "tests=sh \"$OUT/tests.sh\""]
            }
            Kind::Ralph => &["count to three", "--check", THREE],
            Kind::RalphInWorktree => &["count to three", "--worktree", "--check", THREE],
            Kind::Items => &["of the house"],
        }
    }
}

/// A project in which something of that kind is to be done.
struct Scene {
    kind: Kind,
    sandbox: Sandbox,
}

impl Scene {
    fn new(kind: Kind) -> Scene {
        let sandbox = Sandbox::new();
        sandbox.file("out/agent.sh", format!("{AGENT}{}", kind.agent()));
        sandbox.file("out/tests.sh", TESTS);
        for (name, text) in kind.files() {
            sandbox.write(name, text);
        }
        sandbox.commit("what is to be done");
        Scene { kind, sandbox }
    }

    fn reads(&self, words: &[&str]) -> String {
        self.sandbox.run(words).exits(0).out
    }

    /// `loop run`, by this program or another.
    fn run(&self, program: &Path) -> Command {
        let agent = format!("sh {}", self.sandbox.path("out/agent.sh").display());
        self.sandbox.furnished(program, &[&["run", "--agent-cmd", &agent], self.kind.words()].concat())
    }

    fn begin(&self, program: &Path) -> Child {
        self.run(program).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program")
    }

    fn ends(&self, program: &Path) {
        Done::of(self.run(program).output().expect("the program")).exits(0);
    }

    /// What it came to, without names and times.
    fn result(&self) -> Value {
        let status: Value = serde_json::from_str(&self.reads(&["status", "--json"])).expect("one object");
        let log = self.reads(&["log", "--json"]);
        let phases: Vec<Value> = status["phases"]
            .as_array()
            .expect("phases")
            .iter()
            .map(|it| json!([it["name"], it["status"], it["iterations"]]))
            .collect();
        let branch = status["branch"].as_str().unwrap_or("HEAD");
        json!({
            "status": status["status"], "phases": phases,
            "calls": status["calls_total"], "iterations": status["iterations_total"],
            "started": starts(&self.sandbox.note("starts")),
            "lost": log.lines().filter(|it| it.contains("\"lost\"")).count(),
            "commits": self.sandbox.git(&["log", "--reverse", "--format=%s", branch]),
            "runs": self.reads(&["runs"]).lines().count(),
        })
    }

    fn assert_whole(&self) {
        assert!(self.reads(&["verify"]).contains("is complete and unchanged"));
        self.sandbox.assert_nothing_runs();
    }
}

/// Whether it was killed before its end.
fn killed_after(child: &mut Child, time: Duration) -> bool {
    let moment = Instant::now() + time;
    while Instant::now() < moment {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    child.kill().expect("it is ours");
    !child.wait().expect("an end").success()
}

#[test]
fn an_older_program_is_killed_and_this_one_goes_on() {
    let Some(old) = std::env::var_os("LOOP_OLD_BINARY").map(PathBuf::from) else {
        return eprintln!(
            "SKIPPED an_older_program_is_killed_and_this_one_goes_on: LOOP_OLD_BINARY names no program"
        );
    };
    let seed = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 0x9e37_79b9 + 1);
    println!("LOOP_TEST_SEED={seed}");
    let mut dice = SeededRandom::new(seed);
    let expected = KINDS.map(|kind| {
        let scene = Scene::new(kind);
        let began = Instant::now();
        scene.ends(&old);
        let took = began.elapsed();
        scene.assert_whole();
        (took, scene.result())
    });
    let (mut kills, mut tries, mut before) = (0, 0, 0);
    while kills < KILLS {
        let (kind, (took, expected)) = (KINDS[tries % KINDS.len()], &expected[tries % KINDS.len()]);
        tries += 1;
        let scene = Scene::new(kind);
        let time = u64::try_from(took.as_micros()).expect("a short time");
        let moment = Duration::from_micros(dice.below(time));
        if !killed_after(&mut scene.begin(&old), moment) {
            continue;
        }
        // A run that the old program completed has no proof, so it would be done again.
        let has_home = scene.sandbox.home.join("loop.db").exists();
        let status = if has_home { scene.reads(&["status", "--json"]) } else { "{}".to_owned() };
        let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
        if status["status"] == "completed" {
            continue;
        }
        kills += 1;
        before += u32::from(!scene.sandbox.home.join("loop.db").exists());
        scene.ends(Path::new(program()));
        assert_eq!(&scene.result(), expected, "seed {seed}, try {tries}, {kind:?} killed after {moment:?}");
        scene.assert_whole();
    }
    println!("{kills} kills in {tries} tries, {before} of them before there was a home");
    assert!(before < KILLS / 2, "too many were killed before they had begun");
}
