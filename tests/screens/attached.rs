//! Runs without a terminal, and terminals without a run of their own: `--detach` and `loop attach`.

use crate::stage::{RUN, STUCK, Stage, WAITS, WORKS};
use insta::assert_snapshot;
use loop_harness::within;
use std::time::Duration;

fn detached() -> Vec<&'static str> {
    RUN.iter().copied().chain(["--detach"]).collect()
}

fn completed(stage: &Stage) -> bool {
    within(Duration::from_secs(120), || stage.sandbox.status()["status"] == "completed")
}

#[test]
fn a_detached_run_outlives_its_terminal() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.terminal(24, 80, &detached());
    terminal.exits(0).said("next: loop attach");
    assert_snapshot!(terminal.screen());
    terminal.hang_up();
    for _ in 0..3 {
        at.hear();
        go.say();
    }
    assert!(completed(&stage), "{}", stage.sandbox.status());
    // What it would have said is kept; its last lines come after the run's own end.
    let run = stage.sandbox.status()["run"].as_str().expect("an id").to_owned();
    let log = stage.sandbox.home.join("runs").join(run).join("controller.log");
    let log = || std::fs::read_to_string(&log).expect("a log");
    assert!(within(Duration::from_secs(60), || log().contains("completed: fix the dates")), "{}", log());
    assert!(log().contains("WORK iteration 3: call 3 begins"), "{}", log());
}

#[test]
fn attach_shows_a_detached_run_until_it_rests() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    stage.plain(&detached()).exits(0).says("next: loop attach");
    at.hear();
    go.say();
    at.hear();
    let mut terminal = stage.terminal(24, 80, &["attach"]);
    terminal.until("reading the parser");
    assert_snapshot!(terminal.screen());
    let mut narrow = stage.terminal(24, 40, &["attach"]);
    narrow.until("reading the parser");
    assert_snapshot!(narrow.screen());
    let plain = stage.sandbox.start(stage.command(&["attach", "--json"]));
    go.say();
    at.hear();
    terminal.until("iteration 3: call 3 begins");
    go.say();
    terminal.exits(0).said("completed: fix the dates");
    narrow.exits(0);
    let last = plain.wait().exits(0).out;
    let last: serde_json::Value = serde_json::from_str(last.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["status"], &last["exit"]), (&"completed".into(), &0.into()));
    assert!(terminal.is_as_before());
}

#[test]
fn leaving_changes_nothing() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    // A run that another terminal drives.
    let mut driver = stage.run(24, 80);
    at.hear();
    let mut terminal = stage.terminal(24, 80, &["attach"]);
    terminal.until("reading the parser").types("\u{3}");
    terminal.exits(130).said("continues in the background").said("next: loop attach");
    for _ in 0..2 {
        go.say();
        at.hear();
    }
    go.say();
    driver.exits(0);
    assert_eq!(stage.sandbox.status()["status"], "completed");
}

#[test]
fn a_question_of_a_detached_run_is_answered_where_one_is_attached() {
    let stage = Stage::new(STUCK);
    stage.plain(&detached()).exits(0);
    let mut terminal = stage.terminal(24, 80, &["attach"]);
    terminal.until("reset, skip, abort, modify TEXT?");
    std::fs::write(stage.sandbox.note("mended"), "").expect("a file");
    terminal.types("r\r");
    terminal.exits(0).said("question 1 answered: reset");
    assert!(terminal.is_as_before());
}

#[test]
fn a_question_answered_elsewhere_is_no_longer_asked() {
    let stage = Stage::new(STUCK);
    stage.plain(&detached()).exits(0);
    let mut terminal = stage.terminal(24, 80, &["attach"]);
    terminal.until("reset, skip, abort, modify TEXT?");
    stage.plain(&["answer", "abort"]).exits(0);
    terminal.exits(4).said("halted: aborted by user");
}

#[test]
fn nobody_to_attach_to() {
    let stage = Stage::new(WORKS);
    stage.plain(&["attach"]).exits(2).says("no run in this project");
    stage.plain(&RUN).exits(0);
    stage
        .plain(&["attach"])
        .exits(0)
        .says("no controller drives run")
        .says("it is completed")
        .says("next: loop show");
    let stuck = Stage::new(STUCK);
    stuck.plain(&RUN).exits(4);
    stuck.plain(&["attach"]).exits(4).says("next: loop answer reset");
}

#[test]
fn a_controller_that_cannot_start_says_why() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let driver = stage.sandbox.start(stage.command(&RUN));
    at.hear();
    let told = stage.plain(&detached()).exits(7);
    assert!(told.err.contains("pid"), "{}", told.err);
    stage.plain(&["next", "fix the dates", "--detach"]).exits(2).says("loop run --detach");
    for _ in 0..2 {
        go.say();
        at.hear();
    }
    go.say();
    driver.wait().exits(0);
}

#[test]
fn a_paused_run_goes_on_detached() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    stage.plain(&detached()).exits(0);
    at.hear();
    let mut terminal = stage.terminal(24, 80, &["attach"]);
    terminal.until("reading the parser");
    stage.plain(&["pause"]).exits(0);
    terminal.exits(5).said("paused: asked to pause");
    stage.plain(&["resume", "--detach", "--json"]).exits(0).says("\"next_step\":\"loop attach\"");
    for _ in 0..3 {
        at.hear();
        go.say();
    }
    assert!(completed(&stage), "{}", stage.sandbox.status());
}
