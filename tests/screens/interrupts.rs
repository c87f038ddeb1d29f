//! Ctrl-C at the terminal: wherever a run is, it is saved and exits 130, and the terminal is left as
//! it was found.

use crate::stage::{STUCK, Stage, WAITS, WORKS};
use insta::assert_snapshot;
use loop_harness::Terminal;
use rustix::process::{Signal, kill_process};

#[track_caller]
fn paused(stage: &Stage, terminal: &mut Terminal) {
    terminal.exits(130).said("paused: User interrupt").said("next: loop ");
    assert!(terminal.is_as_before());
    let status = stage.sandbox.status();
    assert_eq!((&status["status"], &status["reason"]), (&"paused".into(), &"User interrupt".into()));
}

#[test]
fn while_an_agent_works() {
    let stage = Stage::new(WAITS);
    let (at, _go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.run(24, 80);
    at.hear();
    terminal.until("reading the parser").types("\u{3}");
    paused(&stage, &mut terminal);
    assert_eq!(stage.sandbox.status()["calls_total"], 1);
}

#[test]
fn while_a_stubborn_agent_works() {
    let stage = Stage::new(
        "trap 'echo no' INT TERM HUP; echo here > \"$OUT/at\"; while :; do read x < \"$OUT/go\"; done",
    );
    let (at, _go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.run(24, 80);
    at.hear();
    terminal.until("call 1, ").types("\u{3}").until("the same signal again ends it at once").types("\u{3}");
    paused(&stage, &mut terminal);
}

#[test]
fn at_a_question() {
    let stage = Stage::new(STUCK);
    let mut terminal = stage.run(24, 80);
    terminal.until("reset, skip, abort, modify TEXT?").types("mod").until("modify TEXT? mod").types("\u{3}");
    paused(&stage, &mut terminal);
    // The question is still there.
    let mut again = stage.terminal(24, 80, &["resume"]);
    again.until("reset, skip, abort, modify TEXT?").types("abort\r").exits(4);
}

#[test]
fn while_it_sleeps() {
    let stage = Stage::new(WORKS);
    stage.sandbox.write(
        ".loop/workflow.toml",
        "extends = \"ralph\"\n[limits]\nwindow = { calls = 1, every = \"1h\", then = \"wait\" }\n",
    );
    stage.sandbox.commit("a workflow");
    let mut terminal = stage.run(24, 80);
    terminal.until("waiting 59m");
    assert_snapshot!(terminal.screen());
    // A countdown goes on by itself.
    let before = terminal.raw.len();
    terminal.until_so("another second", |screen| screen.contains("59m 5") && !screen.contains("59m 59s"));
    assert!(before < terminal.raw.len());
    terminal.types("\u{3}");
    paused(&stage, &mut terminal);
    terminal.said("  no call before 20").said(" left): ");
}

#[test]
fn while_it_waits_for_a_provider() {
    let stage = Stage::new("echo 'LOOP_LIMIT until=2199-01-01T00:00:00Z'; exit 75");
    let mut terminal = stage.run(24, 80);
    terminal.until("waiting").types("\u{3}");
    paused(&stage, &mut terminal);
    terminal.said("  no call before 2199-01-01T00:00:00Z (");
    stage.sandbox.run(&["status"]).exits(0).says("wait        no call before 2199-01-01T00:00:00Z: ");
}

#[test]
fn a_terminal_that_goes_away_pauses_the_run() {
    let stage = Stage::new(STUCK);
    let mut terminal = stage.run(24, 80);
    terminal.until("modify TEXT?");
    kill_process(terminal.pid(), Signal::HUP).expect("it is our child");
    terminal.exits(129).said("paused: Graceful shutdown");
    assert!(terminal.is_as_before());
}
