//! The lines at the bottom of a terminal while a run goes on: at several sizes, in the middle of a
//! resize, without colour, and where nothing can be drawn.

use crate::stage::{RUN, Stage, WAITS, WORKS};
use insta::assert_snapshot;

/// A run whose first call waits, seen at this size.
fn working(rows: u16, columns: u16) -> String {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.run(rows, columns);
    at.hear();
    go.say();
    terminal.until("not done");
    at.hear();
    terminal.until("iteration 2: call 2 begins").until("reading the parser");
    // What was said before the work began depends on the clock where it is wrapped.
    let screen = terminal.screen();
    screen[screen.find("before the first call").expect("the baseline")..].to_owned()
}

#[test]
fn a_call_under_way_at_80_columns() {
    assert_snapshot!(working(24, 80));
}

#[test]
fn a_call_under_way_at_120_columns() {
    assert_snapshot!(working(40, 120));
}

#[test]
fn a_call_under_way_at_40_columns() {
    assert_snapshot!(working(24, 40));
}

#[test]
fn a_resize_leaves_nothing_behind() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.run(24, 100);
    at.hear();
    terminal.until("reading the parser");
    terminal
        .resize(20, 60)
        .until_so("a short bar", |screen| screen.contains(&format!("   {} ", "─".repeat(19))));
    terminal
        .resize(24, 90)
        .until_so("a longer bar", |screen| screen.contains(&format!("   {} ", "─".repeat(29))));
    let screen = terminal.screen();
    assert_eq!(screen.matches("reading the parser").count(), 1, "{screen}");
    assert_eq!(screen.matches("iteration 1/25").count(), 1, "{screen}");
    assert!(screen.contains("WORK iteration 1: call 1 begins"), "what was said stays\n{screen}");
    for _ in 0..2 {
        go.say();
        at.hear();
    }
    go.say();
    terminal.exits(0);
    assert!(!terminal.screen().contains('*'), "nothing of it is left at the end");
    assert!(terminal.is_as_before());
}

/// Whatever stands between our own sequences.
fn sequences(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw).into_owned();
    let sequence = regex_lite::Regex::new("\u{1b}(\\[[0-9;?]*[A-Za-z]|.)").expect("a pattern");
    let mut found: Vec<String> = sequence.find_iter(&text).map(|it| it.as_str()[1..].to_owned()).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn nothing_of_an_agent_reaches_the_terminal_raw() {
    let stage = Stage::new(&format!(
        "printf '\\033]0;title\\007\\033]52;c;ZXZpbA==\\007\\033[2J\\033[1;1H\\033[?1049h\\033[31mred 漢字\\rover\\033c \\033[6n\\n'\n\
         printf '\\302\\233 31m\\342\\200\\256rtl\\n'; echo here > \"$OUT/at\"; read x < \"$OUT/go\"\n{WORKS}"
    ));
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut terminal = stage.run(24, 80);
    at.hear();
    terminal.until(" · 31mrtl");
    assert_snapshot!(terminal.screen());
    for _ in 0..2 {
        go.say();
        at.hear();
    }
    go.say();
    terminal.exits(0);
    let ours = ["[0m", "[1m", "[2m", "[31m", "[32m", "[J", "[K"];
    // The view goes back to its own first line.
    let goes_up = |it: &str| it.len() == 3 && it.starts_with('[') && it.ends_with('A');
    let is_foreign = |it: &String| !ours.contains(&it.as_str()) && !goes_up(it);
    let foreign: Vec<String> = sequences(&terminal.raw).into_iter().filter(is_foreign).collect();
    assert_eq!(foreign, Vec::<String>::new());
    let text = String::from_utf8_lossy(&terminal.raw);
    assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{7}']), "{}", text.escape_debug());
}

#[test]
fn without_colour_nothing_is_lost() {
    let stage = Stage::new(WAITS);
    let (at, go) = (stage.sandbox.fifo("at"), stage.sandbox.fifo("go"));
    let mut command = stage.command(&RUN);
    command.env("NO_COLOR", "1");
    let mut terminal = loop_harness::Terminal::start(&command, 24, 80);
    at.hear();
    terminal.until("reading the parser").until("0 passed, 3 failed");
    for _ in 0..2 {
        go.say();
        at.hear();
    }
    go.say();
    terminal.exits(0);
    let coloured: Vec<String> = sequences(&terminal.raw).into_iter().filter(|it| it.ends_with('m')).collect();
    assert_eq!(coloured, Vec::<String>::new());
}

#[test]
fn a_terminal_that_cannot_draw_gets_plain_lines() {
    let stage = Stage::new(WORKS);
    for terminal in ["dumb", ""] {
        let mut command = stage.command(&RUN);
        command.arg("--fresh").env("TERM", terminal);
        let mut terminal = loop_harness::Terminal::start(&command, 24, 80);
        terminal.exits(0);
        let text = String::from_utf8_lossy(&terminal.raw);
        assert!(text.contains("call 1 begins\r\n") && !text.contains('\u{1b}'), "{}", text.escape_debug());
    }
}

#[test]
fn quiet_says_only_how_it_ended() {
    let stage = Stage::new(WORKS);
    let mut command = stage.command(&RUN);
    command.arg("-q");
    let mut terminal = loop_harness::Terminal::start(&command, 24, 80);
    terminal.exits(0);
    assert_snapshot!(terminal.screen());
}

#[test]
fn without_a_terminal_there_is_one_plain_line_a_fact() {
    let stage = Stage::new(WORKS);
    let done = stage.plain(&RUN).exits(0);
    assert!(!done.err.contains('\u{1b}') && !done.err.contains('\r'), "{}", done.err.escape_debug());
    for text in ["WORK iteration 3: call 3 begins\n", "completed: fix the dates\n", "next: loop show\n"] {
        assert!(done.err.contains(text), "no {text:?} in {}", done.err);
    }
    // In a terminal JSON stays JSON, and nothing is drawn.
    let mut words = RUN.to_vec();
    words.extend(["--fresh", "--json"]);
    let mut terminal = stage.terminal(50, 200, &words);
    terminal.exits(0);
    let text = String::from_utf8(terminal.raw.clone()).expect("text");
    let objects: Vec<serde_json::Value> = text
        .lines()
        .filter(|it| it.starts_with('{'))
        .map(|it| serde_json::from_str(it).expect("an object a line"))
        .collect();
    let last = objects.last().expect("a closing object");
    let keys: Vec<&String> = last.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["exit", "next_step", "reason", "status"]);
    assert_eq!((&last["exit"], &last["status"]), (&0.into(), &"completed".into()));
    assert!(objects[..objects.len() - 1].iter().all(|it| it["kind"].is_string() && it["at"].is_string()));
    assert!(!text.contains('\u{1b}'));
}
