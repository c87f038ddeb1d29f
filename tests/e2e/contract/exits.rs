//! Every exit code, each reached by the shortest way.
//!
//! | code | here | elsewhere |
//! |---|---|---|
//! | 0 | `zero_is_completed` | |
//! | 1 | | starved.rs: a home that cannot be written, a full disk |
//! | 2 | `two_is_a_mistake_and_nothing_begins` | |
//! | 3 | | runs.rs `waiting_exits_3_until_it_is_answered` |
//! | 4 | | runs.rs `halted_exits_4_until_it_is_answered_or_reset` |
//! | 5 | | runs.rs `stopped_goes_on`; signals.rs |
//! | 6 | | runs.rs `capped_needs_more_or_a_reset` |
//! | 7 | `seven_names_the_holder` | crowd.rs |
//! | 8 | `eight_is_a_damaged_state` | database.rs |
//! | 129 130 143 | `a_signal_saves_and_says_which` | signals.rs |

use loop_harness::{CHECK, PROMISE, Sandbox, WORK};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn zero_is_completed() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK, "--json"]).exits(0);
    let last: Value = serde_json::from_str(done.out.lines().last().expect("a line")).expect("an object");
    assert_eq!((&last["status"], &last["exit"]), (&"completed".into(), &0.into()));
    for field in ["reason", "next_step"] {
        assert!(last[field].as_str().is_some_and(|it| !it.is_empty()), "{field}: {last}");
    }
}

#[test]
fn two_is_a_mistake_and_nothing_begins() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    for words in [
        &["run", "it", "--max", "0"][..],
        &["run", "it", "--budget", "free"],
        &["run", "it", "--budget=-1"],
        &["run", "it", "--tokens", "0"],
        &["run", "it", "--time", "soon"],
        &["run", "it", "--on-question", "maybe"],
        &["run", "it", "--check", "tests"],
        &["run", "it", "--preset", "ralph", "--workflow", "x"],
        &["run", "it", "--unknown"],
        &["frobnicate"],
        &["run", "it", "--agent-cmd", "/no/such/program", "--check", "tests=true"],
        &["run", "it", "--agent-cmd", "'open", "--check", "tests=true"],
        &["run", "it", "--agent-cmd", &agent],
    ] {
        let done = sandbox.run(words).exits(2);
        assert!(done.out.is_empty() && !done.err.is_empty(), "{words:?}: {done:?}");
    }
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent])
        .exits(2)
        .says("nothing could prove that the work is done")
        .says("help: add --check tests=\"COMMAND\" with a command that passes when the work is done\n");
    assert!(sandbox.calls().is_empty());
}

#[test]
fn seven_names_the_holder() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
    assert_eq!(at.hear(), "here");
    let pid = running.child.id().to_string();
    sandbox.run(&["run", "it"]).exits(7).says(&pid);
    let beside = format!(
        "next: loop run another --agent-cmd \"{agent}\" --check \"{CHECK}\" --worktree\n  or: loop attach\n"
    );
    sandbox
        .run(&["run", "another", "--agent-cmd", &agent, "--check", CHECK])
        .exits(7)
        .says(&pid)
        .says(&beside);
    sandbox.run(&["resume"]).exits(7).says(&pid).says("next: loop attach\n  or: loop stop\n");
    sandbox.run(&["restore", "1"]).exits(7);
    go.say();
    running.wait().exits(0);
}

#[test]
fn eight_is_a_damaged_state() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    std::fs::create_dir_all(&sandbox.home).expect("a folder");
    std::fs::write(sandbox.home.join("loop.db"), "this is no database, and long enough to be looked at")
        .expect("a file");
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=true"]).exits(8);
    sandbox.run(&["status"]).exits(8);
    sandbox.run(&["doctor"]).exits(0).says("problem  home");
}

#[test]
fn a_signal_saves_and_says_which() {
    for (signal, code, reason) in [
        (Signal::HUP, 129, "Graceful shutdown"),
        (Signal::INT, 130, "User interrupt"),
        (Signal::TERM, 143, "Graceful shutdown"),
    ] {
        let sandbox = Sandbox::new();
        let at = sandbox.fifo("at");
        let agent = sandbox.agent(&format!(
            "[ \"$LOOP_CALL\" = 1 ] && {{ echo here > \"$OUT/at\"; exec sleep 600; }}; {WORK}"
        ));
        let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
        assert_eq!(at.hear(), "here");
        running.signal(signal);
        running.wait().exits(code);
        let status = sandbox.status();
        assert_eq!((&status["status"], &status["reason"]), (&"paused".into(), &reason.into()));
        assert_eq!((&status["calls_total"], &status["iterations_total"]), (&1.into(), &0.into()));
        sandbox.assert_nothing_runs();
    }
}
