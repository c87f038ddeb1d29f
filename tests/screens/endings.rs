//! The last lines of a run, at the sizes that people have: the cause, what failed and what to do next
//! are on the screen when the prompt comes back.

use crate::stage::{STUCK, Stage, WORKS};

use insta::assert_snapshot;
use loop_harness::Terminal;

const SIZES: [(u16, u16); 3] = [(24, 80), (40, 120), (24, 40)];

/// Returns what stands on the screen at the end, which begins after the run's own lines.
fn end_of(terminal: &Terminal, first: &str) -> String {
    let screen = terminal.screen();
    let begin = screen.rfind(first).unwrap_or_else(|| panic!("the end has scrolled away:\n{screen}"));
    screen[begin..].to_owned()
}

fn next_is_last(end: &str) {
    assert!(end.lines().last().is_some_and(|it| it.starts_with("next: ")), "{end}");
}

#[test]
fn a_completion_fits() {
    for (rows, columns) in SIZES {
        let stage = Stage::new(WORKS);
        let mut terminal = stage.run(rows, columns);
        terminal.exits(0);
        let end = end_of(&terminal, "completed: ");
        next_is_last(&end);
        if columns == 80 {
            assert!((5..=8).contains(&end.lines().count()), "{end}");
        }
        assert_snapshot!(format!("completed_at_{columns}"), end);
    }
}

/// The agent promises every time, and the check says otherwise.
#[test]
fn a_liar_is_halted_with_the_cause_and_the_choices() {
    for (rows, columns) in SIZES {
        let stage = Stage::new(STUCK);
        let mut words = crate::stage::RUN.to_vec();
        words.extend(["--on-question", "exit"]);
        let mut terminal = stage.terminal(rows, columns, &words);
        terminal.exits(4);
        let end = end_of(&terminal, "halted: ");
        next_is_last(&end);
        if columns == 80 {
            assert!(end.lines().count() <= 20, "{end}");
        }
        assert_snapshot!(format!("halted_at_{columns}"), end);
    }
}

#[test]
fn a_limit_says_what_is_not_done() {
    let stage = Stage::new(STUCK);
    let mut words = crate::stage::RUN.to_vec();
    words.extend(["--max", "1"]);
    let mut terminal = stage.terminal(24, 80, &words);
    terminal.exits(6);
    let end = end_of(&terminal, "capped: ");
    next_is_last(&end);
    assert!(end.lines().count() <= 20, "{end}");
    assert_snapshot!("capped_at_80", end);
}

#[test]
fn an_agent_that_fails_is_quoted() {
    let stage = Stage::new("echo 'reading config.toml' >&2; echo 'fatal: no API key' >&2; exit 1");
    let mut words = crate::stage::RUN.to_vec();
    words.extend(["--on-question", "exit"]);
    let mut terminal = stage.terminal(24, 80, &words);
    terminal.exits(4);
    let end = end_of(&terminal, "halted: ");
    assert!(end.contains("the agent failed twice: exit 1: fatal: no API key"), "{end}");
    assert_eq!(end.matches("no API key").count(), 1, "the cause is said once: {end}");
    next_is_last(&end);
    assert_snapshot!("agent_failed_at_80", end);
}
