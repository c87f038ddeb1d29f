//! The workflow of the guide, from end to end: the real binary, real git, real tests, and a shell
//! script as the agent, which lies once and is sent back once.

use loop_harness::{Done, Sandbox};
use std::path::Path;

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

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("add.sh", "echo $(($1 - $2))\n");
    sandbox.write("tests.sh", TESTS);
    sandbox.write("cases/nothing.sh", "[ \"$(sh add.sh 0 0)\" = 0 ]\n");
    sandbox.write("bug-0042.md", "# Adding subtracts\n\n`sh add.sh 2 3` prints -1.\n");
    sandbox.file("agent.sh", AGENT);
    sandbox.commit("a bug");
    sandbox
}

fn triage(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/triage").join(file).display().to_string()
}

fn text(done: &Done) -> String {
    format!("{}{}", done.out, done.err)
}

#[test]
fn en15_a_workflow_of_ones_own_runs_from_end_to_end() {
    let project = project();
    let workflow = triage("workflow.toml");
    let agent = format!("sh {0}/agent.sh {0}", project.root().display());
    let run = ["run", "bug-0042.md", "--workflow", &workflow, "--agent-cmd", &agent];
    let waiting = project.run(&run);
    let said = text(&waiting);
    assert_eq!(waiting.code, 3, "{said}");
    for part in ["REPRODUCE passed: ", "tests: 1 of 2 failed", "back to FIX", "Let it go?"] {
        assert!(said.contains(part), "\"{part}\" is missing:\n{said}");
    }
    let approved = project.run(&["approve", "release", "--by", "me"]);
    assert_eq!(approved.code, 0, "{}", text(&approved));
    let done = project.run(&run);
    assert_eq!(done.code, 0, "{}", text(&done));
    let status = project.status();
    assert_eq!(status["status"], "completed");
    assert_eq!(status["verified"], true);
    // REPRODUCE, EXPLAIN, a lie and a FIX, REVIEW, FIX, REVIEW.
    assert_eq!(status["calls_total"], 7);
    let fixed = project.read("add.sh");
    assert_eq!(fixed, "echo $(($1 + $2)) # try 3\n");
}

#[test]
fn its_story_is_told_and_its_bound_is_known() {
    let project = project();
    let story = project.run(&["simulate", "--story", &triage("caught.story")]);
    assert_eq!(story.code, 0, "{}", text(&story));
    assert!(text(&story).ends_with("passes now, in a clean checkout\n"), "{}", text(&story));
    let checked = project.run(&["check", &triage("workflow.toml"), "--json"]);
    let checked: serde_json::Value = serde_json::from_str(&checked.out).expect("it is JSON");
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
