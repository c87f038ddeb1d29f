//! A home that is moved, and a machine that restarts: what a call becomes when the place or the
//! time in which it was begun is gone.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn folder(sandbox: &Sandbox) -> PathBuf {
    fs::read_dir(sandbox.home.join("runs")).expect("runs").flatten().next().expect("a run").path()
}

const STOPS: &str = "[ \"$LOOP_CALL\" = 1 ] && { echo here > \"$OUT/at\"; read x < \"$OUT/go\"; }";

#[test]
fn g10_a_home_that_was_moved_keeps_the_call_that_runs() {
    let mut sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("{STOPS}; echo oops >&2; echo y > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let first = sandbox.spawn(&command);
    at.hear();
    first.kill();
    let elsewhere = sandbox.root().join("moved-home");
    fs::rename(&sandbox.home, &elsewhere).expect("moved");
    sandbox.home = elsewhere;
    let second = sandbox.spawn(&command);
    go.say();
    second.wait().exits(0);
    assert_eq!(sandbox.calls(), [1], "one call, two places");
    // Also what was first written after the move.
    assert_eq!(fs::read_to_string(folder(&sandbox).join("call-1.err")).expect("complaints"), "oops\n");
    sandbox.run(&["verify"]).exits(0);
    sandbox.assert_nothing_runs();
}

/// The controller sees that its home has gone and says so; the next one, told where, goes on.
#[test]
fn g10_a_home_that_is_moved_under_a_controller_loses_nothing() {
    let mut sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("{STOPS}; echo y > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let first = sandbox.spawn(&command);
    at.hear();
    let elsewhere = sandbox.root().join("moved-home");
    fs::rename(&sandbox.home, &elsewhere).expect("moved");
    sandbox.home = elsewhere;
    go.say();
    let done = first.wait();
    println!("{done:?}");
    assert!(done.code != 0 && done.err.contains("moved"), "{done:?}");
    let home = sandbox.home.display().to_string();
    let hint = done.err.lines().find_map(|it| it.strip_prefix("next: ")).expect("a next step");
    assert!(
        hint.starts_with("loop run \"build it\"") && hint.ends_with(&format!(" --home {home}")),
        "{hint}"
    );
    let again: Vec<&str> = command.iter().copied().chain(["--home", &home]).collect();
    loop_harness::hints::pasted(hint, sandbox.run(&again).exits(0).code);
    assert_eq!(sandbox.calls(), [1], "the call was collected");
    sandbox.run(&["verify"]).exits(0);
    sandbox.assert_nothing_runs();
}

/// Another boot: the shim's name means nobody any more, and what it did is not known.
#[test]
fn g10_after_a_restart_of_the_machine_a_call_is_lost_and_not_repeated() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("{STOPS}; {WORK}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    let first = sandbox.spawn(&command);
    at.hear();
    first.kill();
    let path = folder(&sandbox).join("shim-1");
    let mut shim: Value = serde_json::from_slice(&fs::read(&path).expect("a shim")).expect("an object");
    let pid = i32::try_from(shim["pid"].as_i64().expect("a pid")).expect("a pid");
    for pid in sandbox.processes().iter().map(|it| it.0).chain([pid]) {
        let _may_be_gone = kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL);
    }
    shim["boot"] = "4a1c9d1e-0000-4000-8000-000000000000".into();
    fs::write(&path, shim.to_string()).expect("written");
    sandbox.run(&command).exits(0);
    drop(go);
    assert_eq!(sandbox.calls(), [1, 2]);
    let belongings = &shim["belongings"];
    for place in [&belongings["scratch"]["path"], &belongings["cgroup"]] {
        assert!(place.as_str().is_none_or(|it| !std::path::Path::new(it).exists()), "{place} is left");
    }
    sandbox.run(&["log"]).says("call 1 was lost after").says("s: the machine restarted during the call\n");
    sandbox.assert_nothing_runs();
}
