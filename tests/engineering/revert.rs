//! Taking a landed system out of its branch again.

use crate::domain::{Domain, system};
use crate::project::{Project, SYSTEM};
use loop_harness::within;
use rustix::process::Signal;

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

/// What a revert took out, and a person brought back, can be taken out again.
#[test]
fn a_revert_that_was_reverted_does_not_count() {
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let sandbox = &domain.sandbox;
    domain.pool(1, "honest", &[]).wait().exits(0);
    let merge = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    sandbox.git(&["revert", "--no-edit", "-m1", &merge]);
    sandbox.git(&["revert", "--no-edit", "HEAD"]);
    assert!(sandbox.project.join("sys-001.txt").exists());
    let back = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.run(&["queue", "revert", "sys-001"]).exits(0).says("sys-001 was reverted on main");
    assert!(!sandbox.project.join("sys-001.txt").exists());
    assert_eq!(sandbox.git(&["rev-parse", "HEAD^"]), back);
    assert_eq!(domain.system("sys-001")["status"], "blocked");
}

/// Whoever ends a command that runs checks for a person ends them too, however it is done.
#[test]
fn checks_end_with_the_command_that_runs_them() {
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let sandbox = &domain.sandbox;
    let slow =
        "if [ -p \"$OUT/go-slow\" ]; then echo slow > \"$OUT/here\"; read -r _ < \"$OUT/go-slow\"; fi\n";
    sandbox.write("tests/slow.sh", slow);
    sandbox.commit("a slow test");
    domain.pool(1, "honest", &[]).wait().exits(0);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let held = domain.held("slow");
    for words in [&["checks"][..], &["queue", "revert", "sys-001"]] {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            let command = sandbox.spawn(words);
            assert_eq!(domain.hear(), "slow");
            command.signal(signal);
            command.wait().exits(code).says("interrupted; the check that was running was ended");
            sandbox.assert_nothing_runs();
            assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1, "{words:?}");
        }
        let command = sandbox.spawn(words);
        assert_eq!(domain.hear(), "slow");
        command.kill();
        assert!(within(loop_harness::PATIENCE, || sandbox.processes().is_empty()), "{words:?}");
    }
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    drop(held);
    std::fs::remove_file(sandbox.note("go-slow")).expect("a pipe");
    sandbox.run(&["queue", "revert", "sys-001"]).exits(0);
    domain.assert_nothing_left();
}
