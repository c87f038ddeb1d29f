//! `loop design`, `loop refine`, and the sentences that become designs.

use super::session::{CHECK, Sandbox};

#[test]
fn a_design_has_its_sections_and_the_checks_that_were_found() {
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "test:\n\ttrue\n");
    let done = sandbox.run(&["design", "fix the date parser"]);
    assert_eq!(done.code, 0, "{done:?}");
    let name = done.out.trim();
    let shape: String = name.chars().map(|it| if it.is_ascii_digit() { '9' } else { it }).collect();
    assert_eq!(shape, "DESIGN-99999999-999999.md");
    let text = sandbox.read(name);
    let headings: Vec<&str> = text.lines().filter(|it| it.starts_with('#')).collect();
    let expected = [
        "# Fix the date parser",
        "## Context",
        "## Goals",
        "## Requirements",
        "## Technical Approach",
        "## Implementation Tasks",
        "## Acceptance Criteria",
        "## Validation Checks",
        "## Completion Conditions",
        "## Edge Cases",
        "## Rollback",
    ];
    assert_eq!(headings, expected);
    for line in ["**Status**: Design Phase", "**Task Type**: Bug Fix", "make test"] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(text.contains("<promise>BUG_FIXED</promise>"), "{text}");
}

#[test]
fn no_design_is_ever_overwritten() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = ["one", "two", "three", "four"]
        .iter()
        .map(|it| sandbox.run(&["design", it]).out.trim().to_owned())
        .collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(sandbox.designs(), sorted);
    assert!(sandbox.read(&names[3]).starts_with("# Four\n"));
    let done = sandbox.run(&["refine", "--add", "x"]);
    assert!(done.out.starts_with(&names[3]), "the newest of one second is the last: {done:?} {names:?}");
}

#[test]
fn the_type_may_be_given_and_must_be_known() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["design", "fix it", "--type=api"]);
    assert!(sandbox.read(done.out.trim()).contains("**Task Type**: API\n"));
    let done = sandbox.run(&["design", "fix it", "--type", "chore"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("bug-fix"), "{done:?}");
    assert_eq!(sandbox.run(&["design", " "]).code, 2);
}

#[test]
fn criteria_are_added_removed_and_changed() {
    let sandbox = Sandbox::new();
    let name = "DESIGN-20260101-000000.md";
    sandbox.write(name, "# T\n\n## Acceptance Criteria\n\n- [ ] a\n- [ ] b\n");
    let done = sandbox
        .run(&["refine", "--add", "c", "--add=d", "--remove", "a", "--change", "b=e", "--to", "criteria"]);
    assert_eq!((done.code, done.out.as_str()), (0, "DESIGN-20260101-000000.md: 3 acceptance criteria\n"));
    assert_eq!(done.err, "- - [ ] a\n- - [ ] b\n+ - [ ] e\n+ - [ ] c\n+ - [ ] d\n");
    assert_eq!(sandbox.read(name), "# T\n\n## Acceptance Criteria\n\n- [ ] e\n- [ ] c\n- [ ] d\n");
    for wrong in [&["refine", "--remove", "z"][..], &["refine"], &["refine", "none.md", "--add", "x"]] {
        assert_eq!(sandbox.run(wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(sandbox.read(name), "# T\n\n## Acceptance Criteria\n\n- [ ] e\n- [ ] c\n- [ ] d\n");
}

#[test]
fn rt07_a_locked_design_is_not_refined() {
    let sandbox = Sandbox::new();
    let text =
        "# T\n\n**Status**: LOCKED ✅ - Ready for Implementation\n\n## Acceptance Criteria\n\n- [ ] a\n";
    sandbox.write("DESIGN-20260101-000000.md", text);
    let done = sandbox.run(&["refine", "--add", "b"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("is locked"), "{done:?}");
    assert_eq!(sandbox.read("DESIGN-20260101-000000.md"), text);
}

#[test]
fn a_sentence_becomes_a_design_once() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(
        "echo hello > hello.txt; git add -A; git commit -qm hello; echo '<promise>TASK_COMPLETE</promise>'",
    );
    let words = ["run", "say hello", "--preset", "ralph", "--agent-cmd", &agent, "--check", CHECK];
    let dry = sandbox.run(&[&words[..], &["--dry-run"]].concat());
    assert_eq!((dry.code, sandbox.designs()), (0, vec![]));

    let done = sandbox.run(&words);
    assert_eq!(done.code, 0, "{done:?}");
    let designs = sandbox.designs();
    assert_eq!(designs.len(), 1);
    assert!(done.err.contains(&format!("wrote the sentence to {}", designs[0])), "{done:?}");
    assert!(sandbox.noted("prompt-1").contains(&designs[0]));
    assert!(!sandbox.noted("prompt-1").contains("say hello"));
    assert_eq!(sandbox.status()["input"], "say hello");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");

    // By either name it is the same run.
    for input in ["say hello", &designs[0]] {
        let again = sandbox.run(&[&["run", input], &words[2..]].concat());
        assert!(again.out.contains("already done"), "{again:?}");
    }
    assert_eq!(sandbox.designs(), designs);
}

#[test]
fn rt22_status_says_how_many_criteria_are_ticked() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&["status"]).out.contains("loop run"));
    let design = "# T\n\n## Acceptance Criteria\n\n- [x] one\n- [ ] two\n- [ ] three\n";
    sandbox.write("DESIGN-20260101-000000.md", design);
    sandbox.commit("a design");
    let agent = sandbox.agent("date +%N > work; git add -A; git commit -qm work");
    let words = ["run", "--preset", "ralph", "--agent-cmd", &agent, "--check", "tests=true", "-n", "1"];
    assert_eq!(sandbox.run(&words).code, 6);
    let said = sandbox.run(&["status"]).out;
    assert!(said.contains("criteria    1/3 ticked") && said.contains("1/1 in the run"), "{said}");
}
