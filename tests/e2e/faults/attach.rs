//! The controller dies during a call; the call does not.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK, within};
use rustix::process::Signal;
use std::time::Duration;

#[test]
fn g10_the_next_controller_attaches_to_the_call() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox
        .agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; echo y > work; {COMMIT}; {PROMISE}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let first = sandbox.spawn(&command);
    at.hear();
    first.kill();
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["calls_total"]), (&"running".into(), &1.into()));
    let second = sandbox.spawn(&command);
    assert!(within(Duration::from_secs(20), || sandbox.is_driven()));
    second.kill();
    let third = sandbox.spawn(&command);
    go.say();
    third.wait().exits(0);
    assert_eq!(sandbox.calls(), [1], "one call, three controllers");
    assert_eq!(sandbox.status()["iterations_total"], 1);
    sandbox.run(&["verify"]).exits(0);
    sandbox.assert_nothing_runs();
}

#[test]
fn g10_a_call_that_ended_alone_is_collected() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    let first = sandbox.spawn(&command);
    at.hear();
    first.kill();
    sandbox.run(&["stop"]).exits(0).says("its last call still finishes");
    go.say();
    sandbox.assert_nothing_runs();
    assert_eq!(sandbox.status()["status"], "running", "nobody has looked at it yet");
    sandbox.run(&command).exits(0);
    assert_eq!(sandbox.calls(), [1]);
}

#[test]
fn g10_an_attached_controller_obeys_signals() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(
        "trap 'echo INT >> \"$OUT/signals\"; exit 1' INT\necho here > \"$OUT/at\"; read x < \"$OUT/go\"",
    );
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=true"];
    let first = sandbox.spawn(&command);
    at.hear();
    first.kill();
    let second = sandbox.spawn(&command);
    assert!(within(Duration::from_secs(20), || sandbox.is_driven()));
    second.signal(Signal::INT);
    second.wait().exits(130);
    assert_eq!(sandbox.notes("signals"), ["INT"]);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"paused".into(), &0.into()));
    sandbox.assert_nothing_runs();
}

#[test]
fn g10_stop_now_ends_a_call_that_nobody_holds() {
    for (word, status) in
        [(&["stop", "--now"][..], "paused"), (&["pause"], "paused"), (&["cancel"], "cancelled")]
    {
        let sandbox = Sandbox::new();
        let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
        let agent = sandbox.agent("echo here > \"$OUT/at\"; read x < \"$OUT/go\"");
        let first = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=true"]);
        at.hear();
        first.kill();
        assert!(!sandbox.processes().is_empty());
        sandbox.run(word).exits(0);
        sandbox.assert_nothing_runs();
        let found = sandbox.status();
        assert_eq!((&found["status"], &found["calls_total"]), (&status.into(), &1.into()), "{word:?}");
        assert_eq!(found["iterations_total"], 0);
    }
}

/// `--fresh` gives up a run whose call still goes on; that call must not work beside the next one.
#[test]
fn g09_a_fresh_run_ends_the_call_of_the_one_before() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "[ -f \"$OUT/second\" ] && {{ {WORK}; exit 0; }}; touch \"$OUT/second\"; echo here > \"$OUT/at\"; read x < \"$OUT/go\""
    ));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    let first = sandbox.spawn(&command);
    at.hear();
    first.kill();
    sandbox.run(&[&command[..], &["--fresh"]].concat()).exits(0);
    sandbox.assert_nothing_runs();
    let runs = sandbox.run(&["runs"]).exits(0).out;
    assert!(runs.contains("cancelled") && runs.contains("completed"), "{runs}");
}

/// Whatever a call starts is gone when the call is over: in sessions of its own, deaf to signals,
/// without an environment.
#[test]
fn g09_nothing_that_a_call_started_survives_it() {
    let sandbox = Sandbox::new();
    let (at, _go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "(setsid sh -c 'trap \"\" INT TERM HUP; echo one > \"$OUT/at\"; while :; do read x < \"$OUT/go\"; done' &) &\n\
         (env -i setsid sh -c 'cd /; echo two > \"$0\"; read x < \"$1\"' \"$OUT/at\" \"$OUT/go\" > /dev/null 2>&1 &)\n\
         while [ ! -f \"$OUT/heard\" ]; do :; done; {WORK}"
    ));
    let running = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]);
    let mut said = [at.hear(), at.hear()];
    said.sort();
    assert_eq!(said, ["one", "two"]);
    // They say that they are there before they open the pipe.
    let go = sandbox.note("go");
    assert!(within(Duration::from_secs(60), || 2 <= holders_of(&go).len()));
    std::fs::write(sandbox.note("heard"), "").expect("a file");
    running.wait().exits(0);
    sandbox.assert_nothing_runs();
    assert!(holders_of(&sandbox.note("go")).is_empty());
}

/// The other processes that have this file open.
fn holders_of(file: &std::path::Path) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    let has = |pid: &i32| {
        let mut open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.any(|it| std::fs::read_link(it.path()).is_ok_and(|it| it == file))
    };
    pids.filter(|it| *it != std::process::id() as i32).filter(has).collect()
}
