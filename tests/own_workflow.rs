//! The workflow of the guide, from end to end: the real binary, real git, real tests, and a shell
//! script as the agent, which lies once and is sent back once.

use std::path::Path;
use std::process::{Command, Output};

const AGENT: &str = r#"#!/bin/sh
# Plays every phase of triage. It counts its calls of a phase, so that the first FIX can be a lie and
# the first REVIEW can ask for changes.
cat > /dev/null
count="$1/count-$LOOP_PHASE"
echo x >> "$count"
times=$(wc -l < "$count")
report() { printf 'Done.\n\n```json\n%s\n```\n' "$1"; }
commit() { git add -A && git -c user.name=agent -c user.email=agent@localhost commit -q -m "$1"; }
case "$LOOP_PHASE" in
REPRODUCE)
    printf '[ "$(sh add.sh 2 3)" = 5 ]\n' > cases/adds.sh
    commit 'a test that fails'
    report '{"status": "done", "summary": "a failing test"}' ;;
EXPLAIN)
    mkdir -p incidents && echo 'It subtracts.' > incidents/0042.md
    commit 'the cause'
    report '{"status": "done", "metrics": {"cause_found": true}}' ;;
FIX)
    if [ "$times" -gt 1 ]; then
        printf 'echo $(($1 + $2)) # try %s\n' "$times" > add.sh
        commit "fix $times"
    fi
    report '{"status": "done", "summary": "fixed"}' ;;
REVIEW)
    if [ "$times" = 1 ]; then
        report '{"status": "done", "verdict": "changes", "summary": "say which try it is"}'
    else
        report '{"status": "done", "verdict": "approve"}'
    fi ;;
esac
"#;

const TESTS: &str = r#"passing=0 total=0
for case in cases/*.sh; do
    total=$((total + 1))
    if sh "$case"; then passing=$((passing + 1)); else echo "FAIL: $case"; fi
done
echo "tests_total=$total tests_passing=$passing tests_failing=$((total - passing))"
[ "$passing" = "$total" ]
"#;

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project { folder };
        let root = project.root();
        std::fs::create_dir_all(root.join("cases")).expect("a folder");
        let files = [
            ("add.sh", "echo $(($1 - $2))\n"),
            ("tests.sh", TESTS),
            ("cases/nothing.sh", "[ \"$(sh add.sh 0 0)\" = 0 ]\n"),
            ("bug-0042.md", "# Adding subtracts\n\n`sh add.sh 2 3` prints -1.\n"),
        ];
        for (path, text) in files {
            std::fs::write(root.join(path), text).expect("it can be written");
        }
        std::fs::write(project.folder.path().join("agent.sh"), AGENT).expect("it can be written");
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "-A"]);
        project.git(&["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "-m", "a bug"]);
        project
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git").args(arguments).current_dir(self.root()).status().expect("git runs");
        assert!(done.success(), "git {arguments:?}");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_loop"))
            .args(arguments)
            .current_dir(self.root())
            .env("LOOP_HOME", self.folder.path().join("home"))
            .env("HOME", self.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("LOOP_RUN")
            .output()
            .expect("loop runs")
    }
}

fn triage(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/triage").join(file).display().to_string()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn en15_a_workflow_of_ones_own_runs_from_end_to_end() {
    let project = Project::new();
    let workflow = triage("workflow.toml");
    let agent = format!("sh {0}/agent.sh {0}", project.folder.path().display());
    let run = ["run", "bug-0042.md", "--workflow", &workflow, "--agent-cmd", &agent];
    let waiting = project.run(&run);
    let said = text(&waiting);
    assert_eq!(waiting.status.code(), Some(3), "{said}");
    for part in ["REPRODUCE passed: ", "tests: 1 of 1 failed", "back to FIX", "Let it go?"] {
        assert!(said.contains(part), "\"{part}\" is missing:\n{said}");
    }
    let approved = project.run(&["approve", "release", "--by", "me"]);
    assert_eq!(approved.status.code(), Some(0), "{}", text(&approved));
    let done = project.run(&run);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let status: serde_json::Value =
        serde_json::from_slice(&project.run(&["status", "--json"]).stdout).expect("a status is JSON");
    assert_eq!(status["status"], "completed");
    assert_eq!(status["verified"], true);
    // REPRODUCE, EXPLAIN, a lie and a FIX, REVIEW, FIX, REVIEW.
    assert_eq!(status["calls_total"], 7);
    let fixed = std::fs::read_to_string(project.root().join("add.sh")).expect("it is there");
    assert_eq!(fixed, "echo $(($1 + $2)) # try 3\n");
}

#[test]
fn its_story_is_told_and_its_bound_is_known() {
    let project = Project::new();
    let story = project.run(&["simulate", "--story", &triage("caught.story")]);
    assert_eq!(story.status.code(), Some(0), "{}", text(&story));
    assert!(text(&story).ends_with("passes now, in a clean checkout\n"), "{}", text(&story));
    let checked = project.run(&["check", &triage("workflow.toml"), "--json"]);
    let checked: serde_json::Value = serde_json::from_slice(&checked.stdout).expect("it is JSON");
    assert_eq!(checked["calls"], serde_json::json!({ "at-most": 30 }));
}

/// What the guide shows is what the example says.
#[test]
fn the_guide_quotes_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("it is there");
    let (guide, story) = (read("docs/guide/own-workflow.md"), read("examples/triage/caught.story"));
    let workflow = read("examples/triage/workflow.toml");
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted = 0;
    for (fence, source) in [("```toml\n", &workflow), ("```story\n", &story)] {
        for block in guide.split(fence).skip(1).filter_map(|it| it.split_once("```")).map(|it| it.0) {
            for line in block.lines().map(squeeze).filter(|it| !it.is_empty()) {
                quoted += 1;
                let line = line.split(" #").next().unwrap_or_default().trim().to_owned();
                assert!(squeeze(source).contains(&line), "the example does not say: {line}");
            }
        }
    }
    assert!(10 < quoted, "the guide quotes only {quoted} lines");
}
