//! What opens a system: the claim, the branch, the worktree, the state.

use crate::project::{Project, SYSTEM};

#[test]
fn or01_init_next_claims_the_next_ready_system() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox.run(&["init", "--next", "--agent-cmd", &agent]).exits(0).says("sys-002");
    let system = project.system("sys-002");
    assert_eq!(system["status"], "in-progress");
    assert!(system["startedAt"].is_string());
    assert_eq!(
        sandbox.git(&["-C", ".worktrees/feature-adder", "branch", "--show-current"]).trim(),
        "feature/adder"
    );
    let state = project.loop_state();
    assert_eq!((state["state"].as_str(), state["systemId"].as_str()), (Some("INIT"), Some("sys-002")));
    assert_eq!(state["branch"], "feature/adder");
    assert_eq!(state["worktree"], ".worktrees/feature-adder");
    assert_eq!(project.json("domain-memory/shop/loop-state.json"), state);
    // OR-02, and what is taken already.
    sandbox.run(&["init", "--next", "--agent-cmd", &agent]).exits(2).says("no system of the queue is ready");
    sandbox.run(&["init", "sys-003", "--agent-cmd", &agent]).exits(2).says("sys-003 waits for sys-002");
    sandbox.run(&["init", "sys-001", "--agent-cmd", &agent]).exits(2).says("sys-001 is complete");
    assert!(!sandbox.project.join("domain-memory/shop/systems/sys-003").exists(), "nothing was created");
}

#[test]
fn a_cancelled_system_is_free_again() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["cancel", "--yes"]).exits(0);
    let system = project.system("sys-002");
    assert_eq!(
        (system["status"].as_str(), system["blockedReason"].as_str()),
        (Some("blocked"), Some("cancelled"))
    );
    sandbox.run(&["run", "sys-002", "--agent-cmd", &agent]).exits(0);
    assert_eq!(project.system("sys-002")["status"], "complete");
}

#[test]
fn a_worktree_is_prepared_once() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml");
    sandbox
        .write(".loop/workflow.toml", format!("{text}[workspace]\nprepare = \"echo made >> ../prepared\"\n"));
    sandbox.commit("prepare");
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["next"]).exits(5);
    assert_eq!(sandbox.read(".worktrees/prepared"), "made\n");
}

#[test]
fn or06_the_first_call_does_the_work_of_init() {
    let project = Project::new();
    let agent = project.agent("honest");
    project.sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    project.sandbox.run(&["next"]).exits(5);
    let prompt = project.sandbox.prompt(1);
    assert!(prompt.contains("entry-portal") && prompt.contains("adds numbers"), "{prompt}");
    assert!(prompt.contains(&format!("{SYSTEM}/SYSTEM.md")), "{prompt}");
}

#[test]
fn or38_without_a_repository_it_says_what_to_do() {
    let sandbox = loop_harness::Sandbox::empty();
    sandbox.write("domain-memory/shop/system-queue.json", crate::project::QUEUE);
    sandbox.run(&["run", "sys-002", "--agent-cmd", "true"]).exits(2).says("git init");
}
