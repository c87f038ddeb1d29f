//! Controller and agent killed between an edit and its commit; and two controllers at once.

use super::project::{HONEST, Project};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

#[test]
fn what_a_crashed_iteration_left_is_put_back_and_kept_and_does_not_count() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.write("notes.txt", "mine\n");
    let (edited, _go) = (sandbox.fifo("edited"), sandbox.fifo("go"));
    let script = format!(
        "if [ \"$LOOP_CALL\" = 2 ]; then echo half > 03-01_1.txt; echo new > left.txt; echo x > \"$OUT/edited\"; read x < \"$OUT/go\"; fi\n{HONEST}"
    );
    let agent = project.agent(&script);
    let running = sandbox.spawn(&["run", "3", "--allow-dirty", "--agent-cmd", &agent]);
    edited.hear();
    let mine = sandbox.processes();
    running.kill();
    for (pid, _) in mine {
        let _gone_already = kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL);
    }
    assert_eq!(sandbox.read("left.txt"), "new\n");
    let status = sandbox.run(&["status"]).exits(0).says("driven by   no controller is running").out;
    assert!(status.contains("plan  running, but no controller is alive\n"), "{status}");
    sandbox.run(&["runs"]).exits(0).says("(no controller is alive)");
    assert_eq!(project.status()["controller"], json!(null));
    let done = project.run(HONEST, &["--allow-dirty"]).exits(0);
    assert!(
        done.err.contains("put back to the last commit") && done.err.contains("refs/loop/snap/"),
        "{}",
        done.err
    );
    assert!(!sandbox.project.join("left.txt").exists(), "what it added is gone from the tree");
    assert_eq!(sandbox.read("03-01_1.txt"), "1\n");
    assert_eq!(sandbox.read("notes.txt"), "mine\n", "what a person had uncommitted stays");
    let refs = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/loop/snap"]);
    let kept = refs
        .lines()
        .any(|it| sandbox.git(&["ls-tree", "-r", "--name-only", it]).lines().any(|it| it == "left.txt"));
    assert!(kept, "and kept in a snapshot");
    assert!(project.loop_state().contains("Iteration: 7\n"), "{}", project.loop_state());
    assert_eq!(project.status()["calls_total"], json!(9));
}

#[test]
fn a_second_controller_is_kept_out() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let (at_work, go) = (sandbox.fifo("at-work"), sandbox.fifo("go"));
    let script = format!(
        "if [ \"$LOOP_CALL\" = 1 ]; then echo x > \"$OUT/at-work\"; read x < \"$OUT/go\"; fi\n{HONEST}"
    );
    let agent = project.agent(&script);
    let running = sandbox.spawn(&["run", "3", "--agent-cmd", &agent]);
    at_work.hear();
    sandbox.run(&["run", "3", "--agent-cmd", &agent]).exits(7);
    go.say();
    running.wait().exits(0);
    assert_eq!(sandbox.calls().len(), 8);
}

/// The controller lives, so nobody else would look: what the agent left is kept, put back, and not counted.
#[test]
fn an_agent_that_somebody_kills_is_lost_and_its_files_are_put_back() {
    for killed in ["kill -KILL $$", "exit 143"] {
        let project = Project::new();
        let script = format!(
            "if [ \"$LOOP_CALL\" = 2 ]; then echo half > 03-01_1.txt; echo new > left.txt; {killed}; fi\n{HONEST}"
        );
        let done = project.run(&script, &[]).exits(0);
        assert!(
            done.err.contains("call 2 is lost and does not count: the agent was killed")
                && done.err.contains("2 files put back to the last commit"),
            "{}",
            done.err
        );
        assert!(!project.sandbox.project.join("left.txt").exists());
        assert!(project.loop_state().contains("Iteration: 7\n"), "{}", project.loop_state());
        assert_eq!(project.status()["calls_total"], json!(9));
    }
    let project = Project::new();
    project
        .run("kill -KILL $$", &[])
        .exits(4)
        .says("5 calls in a row were lost, the last one: the agent was killed");
    assert_eq!(project.status()["iterations_total"], json!(0));
    project.agent(HONEST);
    project.sandbox.run(&["resume", "--max", "1"]).exits(6);
}
