//! An older program begins a run and is killed at a random moment, and this one goes on with it to the
//! end: again and again, over everything that can be run. Whatever the moment, the run comes to what an
//! uninterrupted one comes to, no call is started twice, and no result is lost.

use crate::place::{Done, LOOP, assert_nothing_runs, starts};
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

/// A project and a home below a temporary folder.
struct Scene {
    kind: Kind,
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Scene {
    fn new(kind: Kind) -> Scene {
        let folder = tempfile::Builder::new().prefix("loop-homes-").tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        let scene = Scene { kind, root, _folder: folder };
        let git = "[user]\nname = Tester\nemail = tester@localhost\n[init]\ndefaultBranch = main\n";
        let agent = format!("{AGENT}{}", kind.agent());
        let beside = [("user/.gitconfig", git), ("out/agent.sh", &agent), ("out/tests.sh", TESTS)];
        let inside = kind.files().iter().map(|(name, text)| (format!("project/{name}"), *text));
        let beside = beside.into_iter().map(|(name, text)| (name.to_owned(), text));
        for (name, text) in beside.chain(inside).chain([("project/README.md".to_owned(), "a project\n")]) {
            let path = scene.root.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("a file");
        }
        scene.git(&["init", "-q"]);
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "the beginning"]);
        scene
    }

    fn command(&self, program: impl AsRef<Path>, words: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().current_dir(self.root.join("project")).args(words).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").expect("a path")).env("LANG", "C.UTF-8");
        command.env("HOME", self.root.join("user")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("LOOP_HOME", self.root.join("home")).env("OUT", self.root.join("out"));
        command
    }

    fn git(&self, words: &[&str]) -> String {
        Done::of(self.command("git", words).output().expect("git")).exits(0).out
    }

    fn reads(&self, words: &[&str]) -> String {
        Done::of(self.command(LOOP, words).output().expect("the program")).exits(0).out
    }

    /// `loop run`, by this program or another.
    fn run(&self, program: &Path) -> Command {
        let agent = format!("sh {}", self.root.join("out/agent.sh").display());
        self.command(program, &[&["run", "--agent-cmd", &agent], self.kind.words()].concat())
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
            "started": starts(&self.root.join("out/starts")),
            "lost": log.lines().filter(|it| it.contains("\"lost\"")).count(),
            "commits": self.git(&["log", "--reverse", "--format=%s", branch]),
            "runs": self.reads(&["runs"]).lines().count(),
        })
    }

    fn assert_whole(&self) {
        assert!(self.reads(&["verify"]).contains("is whole"));
        assert_nothing_runs(&self.root);
    }
}

/// A small generator, so that a seed says everything.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
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
    let mut dice = Dice(seed);
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
        let has_home = scene.root.join("home/loop.db").exists();
        let status = if has_home { scene.reads(&["status", "--json"]) } else { "{}".to_owned() };
        let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
        if status["status"] == "completed" {
            continue;
        }
        kills += 1;
        before += u32::from(!scene.root.join("home/loop.db").exists());
        scene.ends(Path::new(LOOP));
        assert_eq!(&scene.result(), expected, "seed {seed}, try {tries}, {kind:?} killed after {moment:?}");
        scene.assert_whole();
    }
    println!("{kills} kills in {tries} tries, {before} of them before there was a home");
    assert!(before < KILLS / 2, "too many were killed before they had begun");
}
