//! Whole runs from the first line to the report, as a person sees them.

use crate::stage::{Stage, WORKS};
use insta::assert_snapshot;
use loop_harness::Scripted;
use loop_harness::{Terminal, steady};

#[test]
fn the_demo_in_a_terminal() {
    let stage = Stage::new(WORKS);
    let mut terminal = stage.terminal(60, 120, &["demo"]);
    terminal.exits(0);
    let text = terminal.everything();
    // Where it plays and what this program is called depend on the machine.
    let begin = text.find("before the first call").expect("the baseline");
    assert_snapshot!(&text[begin..]);
    let readme = std::fs::read_to_string("README.md").expect("the README");
    let sample = readme.split("```text\n").nth(1).and_then(|it| it.split("```").next()).expect("a sample");
    assert!(text.contains(&steady(sample)), "README.md shows what the demo does not print:\n{text}");
}

#[test]
fn tdd_from_red_to_completed() {
    let sandbox = Scripted::with_lines();
    sandbox.step(
        "GREEN",
        "echo making it pass; echo here > \"$OUT/at\"; read x < \"$OUT/go\"\n\
        printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n",
    );
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let mut terminal = Terminal::start(&sandbox.driving_lines(&[]), 40, 100);
    at.hear();
    terminal.until("making it pass");
    let screen = terminal.screen();
    let live: Vec<&str> = screen.lines().rev().take(3).collect();
    assert_snapshot!("tdd_status_line", live.into_iter().rev().collect::<Vec<_>>().join("\n"));
    let mut status = Terminal::start(&sandbox.command(&["status"]), 40, 100);
    status.exits(0);
    assert_snapshot!("tdd_summary_while_green", without_paths(&sandbox, &status.screen()));
    go.say();
    terminal.until("yes, no?").types("n\r").exits(0);
    let text = terminal.everything();
    let report = text.find("completed: ").expect("the end");
    assert_snapshot!("tdd_report", &text[report..]);
    let mut status = Terminal::start(&sandbox.command(&["status"]), 40, 100);
    status.exits(0);
    assert_snapshot!("tdd_summary_at_the_end", without_paths(&sandbox, &status.screen()));
}

/// Lines that name the temporary folder, or who drives the run, are another each time.
fn without_paths(sandbox: &Scripted, text: &str) -> String {
    let root = sandbox.root().display().to_string();
    let hidden =
        |it: &&str| !it.contains(&root[..8]) && !it.contains("driven by") && !it.contains("agent-cmd");
    // The frame is as wide as the longest of all lines.
    let shrunk = |it: &str| match it.strip_suffix('║') {
        Some(inside) => format!("{} ║", inside.trim_end()),
        None => it.chars().filter(|it| *it != '═').collect(),
    };
    text.lines().filter(hidden).map(shrunk).collect::<Vec<_>>().join("\n")
}
