//! What `run` and `resume` do with a run at each status.
//!
//! | status | here | elsewhere |
//! |---|---|---|
//! | ready | `ready_goes_on` | json.rs reads it while the first check runs |
//! | running, owner dead | `running_whose_owner_is_dead_goes_on` | attach.rs, kills.rs |
//! | paused | `paused_goes_on` | signals.rs |
//! | stopped | `stopped_goes_on` | control.rs |
//! | capped | `capped_needs_more_or_a_reset` | |
//! | waiting | `waiting_exits_3_until_it_is_answered` | gates.rs waits with `--on-question wait` |
//! | halted | `halted_exits_4_until_it_is_answered_or_reset`, `a_phase_may_be_named` | questions.rs |
//! | BLOCKED | `blocked_goes_on_at_the_persons_word` | gates.rs |
//! | completed | `completed_says_so` | control.rs |
//! | cancelled | `cancelled_is_over` | control.rs |
//!
//! What is asked on a terminal (resume, new, abort) is tried where terminals are.

use loop_harness::{CHECK, COMMIT, Sandbox, WORK, stuck};
use rustix::process::Signal;

const FAILS: &str = "tests=echo broken; test -f work";

fn status(sandbox: &Sandbox) -> String {
    sandbox.status()["status"].as_str().expect("a word").to_owned()
}

fn mend(sandbox: &Sandbox) {
    std::fs::write(sandbox.note("mended"), "").expect("a file");
}

/// Both commands lead from the same rest to the same end.
fn both(rest: impl Fn() -> Sandbox, then: impl Fn(&Sandbox, &str)) {
    for command in ["run", "resume"] {
        then(&rest(), command);
    }
}

#[test]
fn ready_goes_on() {
    let rest = || {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(WORK);
        sandbox.run(&["init", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
        assert_eq!((status(&sandbox).as_str(), sandbox.calls().len()), ("ready", 0));
        sandbox
    };
    both(rest, |sandbox, command| {
        sandbox.run(&[command]).exits(0);
        assert_eq!(sandbox.calls(), [1]);
    });
}

#[test]
fn running_whose_owner_is_dead_goes_on() {
    let rest = || {
        let sandbox = Sandbox::new();
        let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
        let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
        let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
        assert_eq!(at.hear(), "here");
        running.kill();
        assert_eq!(status(&sandbox), "running");
        go.say();
        sandbox
    };
    both(rest, |sandbox, command| {
        sandbox.run(&[command]).exits(0);
        assert_eq!(sandbox.calls(), [1], "the call was not started twice");
    });
}

#[test]
fn paused_goes_on() {
    let rest = || {
        let sandbox = Sandbox::new();
        let at = sandbox.fifo("at");
        let agent = sandbox.agent(&format!(
            "[ \"$LOOP_CALL\" = 1 ] && {{ echo here > \"$OUT/at\"; exec sleep 600; }}; {WORK}"
        ));
        let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
        assert_eq!(at.hear(), "here");
        running.signal(Signal::INT);
        running.wait().exits(130);
        assert_eq!(status(&sandbox), "paused");
        sandbox
    };
    both(rest, |sandbox, command| {
        sandbox.run(&[command]).exits(0);
        assert_eq!(sandbox.calls(), [1, 2]);
        assert_eq!(sandbox.status()["iterations_total"], 1, "an interrupted call is no iteration");
    });
}

#[test]
fn stopped_goes_on() {
    let rest = || {
        let sandbox = Sandbox::new();
        let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
        let agent = sandbox.agent(&format!(
            "[ \"$LOOP_CALL\" = 1 ] && {{ echo here > \"$OUT/at\"; read x < \"$OUT/go\"; date > draft; {COMMIT}; exit; }}; {WORK}"
        ));
        let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
        assert_eq!(at.hear(), "here");
        sandbox.run(&["stop"]).exits(0);
        go.say();
        running.wait().exits(5);
        assert_eq!(status(&sandbox), "stopped");
        sandbox
    };
    both(rest, |sandbox, command| {
        sandbox.run(&[command]).exits(0);
        assert_eq!(sandbox.calls(), [1, 2]);
    });
}

#[test]
fn capped_needs_more_or_a_reset() {
    let rest = || {
        let sandbox = Sandbox::new();
        let agent = sandbox
            .agent(&format!("date +%N > draft; {COMMIT}; if [ \"$LOOP_CALL\" -gt 2 ]; then {WORK}; fi"));
        sandbox.run(&["run", "it", "-n", "1", "--agent-cmd", &agent, "--check", CHECK]).exits(6);
        assert_eq!(status(&sandbox), "capped");
        sandbox
    };
    both(rest, |sandbox, command| {
        sandbox.run(&[command]).exits(6).says("loop run --max");
        sandbox.run(&[command, "--max", "1"]).exits(6);
        assert_eq!(sandbox.calls(), [1], "nothing was called");
        sandbox.run(&[command, "--reset"]).exits(6);
        assert_eq!(sandbox.calls(), [1, 2], "a reset gives the whole cap again");
        sandbox.run(&[command, "--max", "9"]).exits(0);
    });
}

const GATED: &str = "name = \"gated\"\n[checks.tests]\nrun = \"test -f work\"\n[[phase]]\nname = \"ONE\"\nprompt = \"do\"\n\
    report = \"none\"\nsignal = \"none\"\nchecks = [\"tests\"]\ngates = [\"look\"]\n[[phase]]\nname = \"TWO\"\nprompt = \"more\"\n\
    report = \"none\"\nsignal = \"none\"\n[gates.look]\nask = \"good?\"\n";

fn gated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", GATED);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--agent-cmd", &agent]).exits(3);
    assert_eq!(status(&sandbox), "waiting");
    sandbox
}

#[test]
fn waiting_exits_3_until_it_is_answered() {
    both(gated, |sandbox, command| {
        sandbox.run(&[command]).exits(3).says("loop approve look");
        assert_eq!(sandbox.calls(), [1]);
        sandbox.run(&["approve"]).exits(0);
        sandbox.run(&[command]).exits(0);
        assert_eq!(sandbox.calls(), [1, 2]);
    });
}

#[test]
fn blocked_goes_on_at_the_persons_word() {
    let rest = || {
        let sandbox = gated();
        sandbox.run(&["reject", "not so"]).exits(0);
        sandbox.run(&["run"]).exits(4);
        assert_eq!(status(&sandbox), "halted");
        assert_eq!(sandbox.status()["question"]["kind"], "blocked");
        sandbox
    };
    let sandbox = rest();
    sandbox.run(&["run"]).exits(4).says("loop answer resume");
    let sandbox = rest();
    sandbox.run(&["resume"]).exits(3);
    assert_eq!(status(&sandbox), "waiting", "the gate is asked again");
}

fn halted() -> Sandbox {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&stuck());
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", FAILS]).exits(4);
    assert_eq!(status(&sandbox), "halted");
    sandbox
}

#[test]
fn halted_exits_4_until_it_is_answered_or_reset() {
    both(halted, |sandbox, command| {
        sandbox.run(&[command]).exits(4).says("loop answer");
        mend(sandbox);
        sandbox.run(&["answer", "reset"]).exits(0);
        sandbox.run(&[command]).exits(0);
    });
    both(halted, |sandbox, command| {
        mend(sandbox);
        sandbox.run(&[command, "--reset"]).exits(0);
    });
}

#[test]
fn a_phase_may_be_named() {
    let sandbox = halted();
    sandbox.run(&["resume", "--state", "WROK"]).exits(2).says("did you mean \"WORK\"?");
    mend(&sandbox);
    sandbox.run(&["resume", "--state", "work"]).exits(0);
    let sandbox = gated();
    sandbox.run(&["resume", "--state", "TWO"]).exits(2).says("TWO has not been reached");
}

#[test]
fn completed_says_so() {
    let rest = || {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(WORK);
        sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
        sandbox
    };
    let sandbox = rest();
    sandbox.run(&["run", "it"]).exits(0).says("already done");
    sandbox.run(&["resume"]).exits(0).says("already done");
    assert_eq!(sandbox.calls(), [1]);
    sandbox.undo();
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--fresh", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(sandbox.calls(), [1, 1], "another run, which counts from 1");
}

#[test]
fn cancelled_is_over() {
    let sandbox = halted();
    let before = sandbox.status()["run"].clone();
    sandbox.run(&["cancel"]).exits(0);
    assert_eq!(status(&sandbox), "cancelled");
    sandbox.run(&["resume"]).exits(2).says("is cancelled");
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_ne!(sandbox.status()["run"], before, "run opens a new one");
}
