//! Many controllers at once. One works; the others say who does.

use loop_harness::{CHECK, COMMIT, Done, PROMISE, Running, Sandbox, WORK};
use rustix::process::Signal;

#[test]
fn g16_of_fifty_controllers_one_works() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    let mut crowd: Vec<Running> = (0..50).map(|_| sandbox.spawn(&command)).collect();
    at.hear();
    let holder = sandbox.processes().into_iter().find(|(_, line)| line.contains("__shim")).expect("a shim");
    let holder = parent_of(holder.0);
    let winner = crowd.iter().position(|it| it.pid().as_raw_nonzero().get() == holder).expect("one of ours");
    let winner = crowd.remove(winner);
    for loser in crowd {
        let done = loser.wait().exits(7);
        assert!(done.err.contains(&format!("pid {holder}")), "the holder is not named: {}", done.err);
    }
    go.say();
    winner.wait().exits(0);
    assert_eq!(sandbox.calls(), [1]);
    sandbox.run(&["verify"]).exits(0);
    sandbox.assert_nothing_runs();
}

/// The work is over in a moment, so that some begin after others have ended.
#[test]
fn g16_fifty_controllers_of_a_short_run_make_one_run_of_it() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let crowd: Vec<Running> = (0..50).map(|_| sandbox.spawn(&command)).collect();
    let done: Vec<Done> = crowd.into_iter().map(Running::wait).collect();
    for it in &done {
        assert!(matches!(it.code, 0 | 7), "{it:?}");
    }
    assert!(done.iter().any(|it| it.code == 0));
    assert_eq!(sandbox.calls(), [1], "the work was done once");
    assert_eq!(sandbox.run(&["runs", "--json"]).exits(0).out.matches("\"completed\"").count(), 1);
}

#[test]
fn g16_two_inputs_do_not_share_a_working_tree() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let flags = ["--agent-cmd", &agent, "--check", CHECK];
    let first = sandbox.spawn(&[&["run", "build one"], &flags[..]].concat());
    at.hear();
    let pid = format!("pid {}", first.pid().as_raw_nonzero());
    sandbox.run(&[&["run", "build two"], &flags[..]].concat()).exits(7).says(&pid);
    let other_home = sandbox.root().join("other-home");
    let other_home = other_home.to_str().expect("a plain path");
    sandbox.run(&[&["run", "build two", "--home", other_home], &flags[..]].concat()).exits(7);
    sandbox.run(&[&["run", "build one"], &flags[..]].concat()).exits(7).says(&pid);
    sandbox.run(&["resume"]).exits(7).says(&pid);
    sandbox.run(&["next", "build one"]).exits(7).says(&pid);
    sandbox.run(&[&["run", "build one", "--fresh"], &flags[..]].concat()).exits(7).says(&pid);
    assert_eq!(sandbox.status()["status"], "running");
    go.say();
    first.wait().exits(0);
    assert_eq!(sandbox.calls(), [1]);
}

/// A stopped controller is alive: its lock is not taken from it, and killing it sets it free.
#[test]
fn g17_a_lock_is_the_living_ones_and_nobody_elses() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    let first = sandbox.spawn(&command);
    at.hear();
    first.signal(Signal::STOP);
    sandbox.run(&command).exits(7);
    first.kill();
    go.say();
    sandbox.run(&command).exits(0);
    assert_eq!(sandbox.calls(), [1]);
    sandbox.assert_nothing_runs();
}

/// A home appears while others look for it; they see none, or a whole one.
#[test]
fn g08_a_home_that_is_being_made_is_not_taken_for_a_foreign_one() {
    for _ in 0..6 {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(WORK);
        let maker = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
        let lookers: Vec<Running> = (0..12).map(|_| sandbox.spawn(&["status", "--json"])).collect();
        for looker in lookers {
            looker.wait().exits(0);
        }
        maker.wait().exits(0);
    }
}

fn parent_of(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let fields = stat.rsplit_once(") ").expect("fields").1;
    fields.split(' ').nth(1).expect("a parent").parse().expect("a pid")
}
