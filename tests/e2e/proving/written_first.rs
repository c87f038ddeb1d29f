//! Tests that a phase wrote first are protected from then on: the final code must pass them with the
//! text that they had when that phase was left.

use loop_harness::Sandbox;

const WORKFLOW: &str = r#"
name = "first-the-tests"
input = { kind = "none", about = "" }

[agent]
report = "none"
signal = "none"

[limits]
iterations = 6

[checks.tests]
run    = "sh tests/run.sh"

[[phase]]
name   = "RED"
prompt = "write a failing test"
checks = ["tests"]
expect = "failing"
exit   = "!tests_ok"

[[phase]]
name   = "GREEN"
prompt = "make it pass"
checks = ["tests"]

[proof]
go = "GREEN"
"#;

/// One line of TAP for each file in tests/cases.
const RUN: &str = r#"count=0; failed=0
for case in tests/cases/*; do
    count=$((count + 1)); name=$(basename "$case")
    if sh "$case"; then echo "ok $count - $name"; else echo "not ok $count - $name"; failed=1; fi
done
echo "1..$count"
exit $failed
"#;

fn finished(green: &str) -> (i32, String) {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.write("tests/run.sh", RUN);
    sandbox.write("tests/cases/one", "true\n");
    sandbox.write("answer", "41\n");
    sandbox.commit("a project with tests");
    let red = "printf 'test \"$(cat answer)\" = 42\\n' > tests/cases/two";
    let agent = sandbox.agent(&format!(
        "case $LOOP_PHASE in RED) {red};; *) {green};; esac; git add -A; git commit -qm work || true"
    ));
    let done = sandbox.run(&["run", "--agent-cmd", &agent]);
    (done.code, format!("{}{}", done.out, done.err))
}

#[test]
fn code_that_passes_them_is_verified() {
    let (code, said) = finished("echo 42 > answer");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("proven by a test of this run: two fails on the code as it was and passes now"),
        "{said}"
    );
}

#[test]
fn a_test_that_is_weakened_afterwards_is_a_question() {
    let (code, said) = finished("echo true > tests/cases/two; echo 43 > answer");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("fails with the text that it had when the tests were written first"), "{said}");
}
