//! Taking a landed system out of its branch again.

use crate::project::{Project, SYSTEM};

#[test]
fn a_landed_system_is_taken_out_and_its_dependants_are_named() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    project.run("honest", &[]).exits(0);
    let merge = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let state_file = sandbox.project.join(SYSTEM).join("loop-state.json");
    std::fs::remove_file(&state_file).expect("it is there");
    sandbox.run(&["queue", "revert", "sys-002"]).exits(0).says("sys-003 (specified)");
    assert!(state_file.exists(), "whoever reverts writes the mirrors");
    let journey = sandbox.read("domain-memory/shop/journey-log.jsonl");
    let actions = |action: &str| journey.matches(&format!("\"action\":\"{action}\"")).count();
    assert_eq!((actions("landed"), actions("reverted")), (1, 1), "{journey}");
    assert_eq!(sandbox.read("lib.sh"), "add() { echo 0; }\n");
    let told = sandbox.git(&["log", "-1", "--format=%s%n%b"]);
    assert!(told.starts_with("Revert \"Merge sys-002: Adder\"\n"), "{told}");
    assert!(told.contains(&format!("This reverts commit {merge}")), "{told}");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD^"]).trim(), merge, "nothing is rewritten");
    let system = project.system("sys-002");
    assert_eq!((&system["status"], &system["blockedReason"]), (&"blocked".into(), &"reverted".into()));
    assert_eq!(project.system("sys-003")["status"], "specified", "nobody is woken");
    sandbox.run(&["queue", "next"]).exits(0).says("no system is ready");
    sandbox.run(&["queue", "revert", "sys-002"]).exits(2).says("sys-002 was reverted before");
    sandbox.run(&["queue", "revert", "sys-003"]).exits(2).says("not landed by a run");
    sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
}

/// What came later and does not work without it keeps it.
#[test]
fn a_system_that_others_need_stays() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    project.run("honest", &[]).exits(0);
    let merge = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    sandbox.write(
        "test.sh",
        format!(
            "{}grep -q '[+]' lib.sh || {{ echo 'not ok 3 - plus'; exit 1; }}\n",
            sandbox.read("test.sh").replace("1..2", "1..3").replace("exit 1; }", "true; }")
        ),
    );
    sandbox.commit("needs the plus");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.run(&["queue", "revert", "sys-002"]).exits(4).says("without it, tests failed");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(project.system("sys-002")["status"], "complete");
    assert_ne!(merge, head.trim());
}

#[test]
fn local_changes_are_in_the_way_of_a_revert() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    project.run("honest", &[]).exits(0);
    sandbox.write("lib.sh", "# mine\n");
    let refused = sandbox.run(&["queue", "revert", "sys-002"]).exits(4);
    refused.says("uncommitted changes in lib.sh").says("next: loop queue revert sys-002");
    assert_eq!(sandbox.read("lib.sh"), "# mine\n");
}

/// An agent does not undo what was landed.
#[test]
fn a_revert_inside_a_call_is_refused() {
    let project = Project::brief();
    let loop_ = loop_harness::program();
    let script = format!(
        "if [ \"$LOOP_SKILL\" = deploy ]; then {loop_} queue revert sys-001 > \"$OUT/tried\" 2>&1; echo $? >> \"$OUT/tried\"; fi; honest"
    );
    project.run(&script, &[]).exits(0);
    let tried = project.sandbox.notes("tried");
    assert_eq!(tried.last().map(String::as_str), Some("2"), "{tried:?}");
}
