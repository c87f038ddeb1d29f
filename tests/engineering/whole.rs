//! One system from the queue to a merged change.

use crate::project::Project;

#[test]
fn one_system_from_the_queue_to_the_main_branch() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.write(".gitignore", "ESTIMATES.md\n");
    sandbox.commit("private");
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let done = project.run("honest", &[]).exits(0).says("merged into main: lib.sh, ");
    done.says("not committed: the queue, the handoff").says("next: loop run sys-003");
    let status = project.status();
    assert_eq!((status["status"].as_str(), status["verified"].as_bool()), (Some("completed"), Some(true)));
    assert_eq!(status["proof"]["level"], "red-to-green");
    // The work is on the branch that the project is on, by a merge, and its tree has it.
    assert!(sandbox.read("lib.sh").contains("$1 + $2"));
    let parents = sandbox.git(&["rev-list", "--parents", "-1", "HEAD"]);
    assert_eq!(parents.split_whitespace().count(), 3, "a merge: {parents}");
    assert!(parents.contains(before.trim()));
    assert_eq!(sandbox.git(&["status", "--porcelain", "--untracked-files=no", "--", "lib.sh"]), "");
    // The queue goes on, and nothing is left of the worktree.
    assert_eq!(project.system("sys-002")["status"], "complete");
    assert!(project.system("sys-002")["completedAt"].is_string());
    sandbox.run(&["queue", "next"]).exits(0).says("sys-003");
    assert!(!sandbox.project.join(".worktrees/feature-adder").exists());
    // What the last stages wrote is here and on no branch.
    let handoff = sandbox.read("domain-memory/shop/systems/sys-002/HANDOFF.md");
    assert!(handoff.contains("memory-manager"), "{handoff}");
    assert!(sandbox.read("domain-memory/shop/systems/sys-002/FEATURESPEC.md").contains("spec"));
    // What git ignores is in no commit and would go with the worktree.
    assert!(sandbox.read("domain-memory/shop/systems/sys-002/ESTIMATES.md").contains("estimation"));
    let state = project.loop_state();
    assert_eq!((state["state"].as_str(), state["systemName"].as_str()), (Some("COMPLETE"), Some("Adder")));
    assert_eq!(state["stages"]["SHIP"]["status"], "complete");
    sandbox.assert_nothing_runs();
    // The worktree is gone, and the repository knows where the journal ends all the same.
    let whole = sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    assert!(!whole.out.contains("repository has no note"), "{}", whole.out);
    // A second look finds the work in the tree that has it.
    project.run("honest", &[]).exits(0).says("already done").says("every check still passes");
}

#[test]
fn or43_killed_at_every_stage_it_goes_on_where_it_was() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    // Each stage kills its controller once, before it does anything.
    let script = r#"mark="$MARKS/$LOOP_PHASE"; if [ ! -e "$mark" ]; then : > "$mark"; kill -9 "$(cat "$MARKS/pid")"; fi; honest"#;
    let marks = sandbox.root().join("marks");
    std::fs::create_dir_all(&marks).expect("a folder");
    let agent = project.agent(&format!("MARKS={}\n{script}", marks.display()));
    let mut tries = 0;
    loop {
        tries += 1;
        assert!(tries < 20, "it never ends");
        let running = sandbox.spawn(&["run", "sys-002", "--agent-cmd", &agent]);
        std::fs::write(marks.join("pid"), running.pid().as_raw_nonzero().to_string()).expect("written");
        let _killed = running.wait();
        if project.status()["status"] == "completed" {
            break;
        }
    }
    assert_eq!(tries, 11, "ten stages, each killed once");
    assert_eq!(project.status()["verified"], true);
    let calls = sandbox.calls();
    let mut once = calls.clone();
    once.dedup();
    assert_eq!(calls, once, "no call was made twice");
}
