//! What follows a system: the next one, the domain's progress, the handoff.

use crate::project::Project;

fn sessions(project: &Project) -> String {
    let folder = project.sandbox.project.join("domain-memory/shop/sessions");
    let mut texts: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|it| std::fs::read_to_string(it.expect("an entry").path()).expect("a handoff"))
        .collect();
    texts.sort();
    texts.join("\n")
}

#[test]
fn or42_the_next_system_is_begun_only_if_the_workflow_says_so() {
    let project = Project::brief();
    project
        .run("honest", &[])
        .exits(0)
        .says("domain shop: 2 of 3 systems complete, 67 %")
        .says("next: loop run sys-003");
    assert_eq!(project.system("sys-003")["status"], "specified");
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml");
    sandbox.write(".loop/workflow.toml", format!("{text}[finish]\nbegin_next = true\n"));
    sandbox.commit("on and on");
    // The agent of the first system does nothing useful for the second, which is blocked.
    project.run("honest", &[]).exits(4).says("domain shop: 2 of 3 systems complete").says("CONTEXT.md");
    assert_eq!(project.system("sys-003")["status"], "blocked");
}

#[test]
fn the_handoff_says_what_was_decided_rejected_and_deferred() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml").replace("gates = []", "gates = [\"deploy\"]");
    sandbox.write(".loop/workflow.toml", text);
    sandbox.commit("a gate");
    let adr =
        "printf '# ADR\\n\\n## Rejected alternatives\\n\\n- a table of sums: too slow\\n' > \"$d/ADR.md\"";
    let triage = "printf '# Triage\\n\\n## Deferred\\n\\n- subtraction: nobody asked\\n' > \"$d/TRIAGE.md\"";
    let script = format!(
        "case $LOOP_SKILL in architect) {adr}; save; say '';; triage) {triage}; save; say '';; *) honest;; esac"
    );
    project.run(&script, &[]).exits(3);
    sandbox.run(&["approve", "--by", "rel"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let text = sessions(&project);
    for said in [
        "## Rejected alternatives\n\n- a table of sums: too slow",
        "- subtraction: nobody asked",
        "- gate deploy: approved by rel",
        "- [x] required gates: deploy approved by rel",
        "- [-] performance targets: not applicable, no target is stated, claimed by the agent",
        "- [x] tests pass: 2 of 2 tests pass",
        "no command for build, lint, types",
        "0 critical and 0 high findings, claimed by the agent",
        "the verdict is APPROVE",
        "- `sh test.sh` (tests)",
        "## Files to review\n\n- lib.sh",
        "## Next\n\nloop run sys-003",
    ] {
        assert!(text.contains(said), "no {said:?} in {text}");
    }
}

#[test]
fn a_stage_that_fails_by_a_test_that_was_red_before_says_which() {
    let project = Project::new();
    let script =
        "[ \"$LOOP_SKILL\" = implement ] && { write IMPLEMENTATION.md x; save; say ''; exit; }; honest";
    project.run(script, &[]).exits(4).says("it adds");
    let state = project.loop_state();
    let error = state["failures"]["history"][0]["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("tests: it adds"), "{state}");
    let status = project.sandbox.run(&["status"]).exits(0);
    status.says("Context: feature/adder at ").says("issue #7");
}

#[test]
fn retries_that_a_person_takes_back_in_the_file_are_not_counted() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let script = "if [ \"$LOOP_SKILL\" = implement ]; then write IMPLEMENTATION.md x; save; say \",\\\"error\\\":{\\\"class\\\":\\\"build\\\",\\\"text\\\":\\\"broken\\\"}\"; else honest; fi";
    project.run(script, &["-n", "13"]).exits(6);
    assert_eq!(project.loop_state()["failures"]["count"], 2);
    let mut state = project.json("domain-memory/shop/loop-state.json");
    state["failures"]["count"] = 0.into();
    state["state"] = "SCAFFOLD".into();
    sandbox.write("domain-memory/shop/loop-state.json", state.to_string());
    let resumed = sandbox.run(&["resume", "-n", "1"]).exits(6);
    resumed.says("says 0 of 2 retries").says("says SCAFFOLD: the run continues there");
    assert_eq!(project.loop_state()["state"], "SCAFFOLD");
}

#[test]
fn g21_an_unverified_system_is_not_merged_and_the_next_one_is_not_begun() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml");
    let more = "[finish]\nbegin_next = true\n[proof]\nclean = \"never\"\n";
    sandbox.write(".loop/workflow.toml", format!("{text}{more}"));
    sandbox.commit("nothing is proven");
    let before = sandbox.git(&["rev-parse", "main"]);
    let done = project.run("honest", &[]);
    assert!(done.err.contains("the run is not verified"), "{done:?}");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), before, "{done:?}");
    assert_eq!(project.system("sys-003")["status"], "specified");
    assert_eq!(sandbox.status()["verified"], false);
}

/// A worktree that somebody deleted blocks the system, and the report says how it comes back.
#[test]
fn a_deleted_worktree_is_told_where_it_can_be_made_again() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    project.run("honest", &["-n", "2"]).exits(6);
    std::fs::remove_dir_all(sandbox.project.join(".worktrees/feature-adder")).expect("removed");
    sandbox.run(&["run"]).exits(4).says("git worktree add --force");
    assert_eq!(project.loop_state()["state"], "BLOCKED");
    sandbox.run(&["status"]).exits(0).says("git worktree add --force");
    let again = sandbox.run(&["run"]).exits(4);
    assert!(!again.err.contains("the run continues there"), "{again:?}");
}
