//! Messages that look as if they gave a signal and do not: quoted, echoed, shown as code, misspelt,
//! replayed. They are made from genuine reports, each of which is first seen to count as it stands, so
//! that what refuses a forgery is the forgery. Every one is read under every protocol, and none may
//! bring a signal or a verdict.

mod corpus;

use super::{Expected, read};
use crate::workflow::model::Protocol;
use std::collections::BTreeSet;

const EXPECTED: Expected<'_> =
    Expected { phase: "GREEN", promise: "API COMPLETE", prompt: "", generates_tests: false };

const STATUS: &str =
    "---PRP_PHASE_STATUS---\nPHASE: GREEN\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_PRP_PHASE_STATUS---\n";
const SIGNAL: &str = "---\nEXIT_SIGNAL: TASK_COMPLETE\nCOMMIT: abc1234\n---\n";
const PROMISE: &str = "<promise>API COMPLETE</promise>\n";
const JSON: &str = "```json\n{\"status\":\"done\"}\n```\n";

fn protocols() -> [Protocol; 5] {
    let file = Protocol::Frontmatter("*.md".to_owned());
    [Protocol::PrpStatus, Protocol::ExitSignal, Protocol::Promise, Protocol::Json, file]
}

/// Every report that counts as it stands.
fn genuine() -> Vec<(Protocol, String)> {
    let words = ["TASK_COMPLETE", "PLAN_COMPLETE", "PHASE_COMPLETE"];
    let signals = words.map(|it| (Protocol::ExitSignal, SIGNAL.replace("TASK_COMPLETE", it)));
    let spread = PROMISE.replace("API COMPLETE", "\nAPI COMPLETE\n");
    let others = [
        (Protocol::PrpStatus, STATUS.to_owned()),
        (Protocol::Promise, PROMISE.to_owned()),
        (Protocol::Promise, spread),
        (Protocol::Json, JSON.to_owned()),
    ];
    signals.into_iter().chain(others).collect()
}

fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|it| change(it) + "\n").collect()
}

const BEFORE_A_LINE: &[&str] = &[
    "> ",
    ">",
    ">> ",
    "> > ",
    "    ",
    "\t",
    "        ",
    "say: ",
    "* ",
    "+ ",
    "+",
    "-",
    "| ",
    "# ",
    "// ",
    "$ ",
    "[agent] ",
    "1: ",
    "     1\t",
    "12→",
    "…",
    "\"",
    "'",
    "“",
    "`",
    "**",
    "_",
    "\\",
    "&gt; ",
    "\u{200b}",
    "\u{a0}",
    "\u{2003}",
    "\u{feff}x",
    "\u{202e}",
    "\u{200f}",
    "\u{2060}",
    "\0",
    "\u{1b}[32m",
    "assistant: ",
    "2026-01-01T00:00:00Z ",
    "echo ",
    "printf '",
    "<b>",
    "- [x] ",
];

const AFTER_A_LINE: &[&str] = &[
    ".",
    " (example)",
    " ✓",
    "\u{200b}",
    "\u{a0}",
    "\u{feff}",
    "`",
    "**",
    "\"",
    " # not yet",
    "\u{1b}[0m",
    "\0",
    " -->",
    ";",
];

const AROUND_A_LINE: &[(&str, &str)] = &[
    ("`", "`"),
    ("``", "``"),
    ("**", "**"),
    ("\"", "\""),
    ("| ", " |"),
    ("<code>", "</code>"),
    ("“", "”"),
    ("(", ")"),
    ("<p>", "</p>"),
];

const LETTERS_ALIKE: &[(&str, &str)] = &[
    ("E", "\u{415}"),
    ("T", "\u{422}"),
    ("o", "\u{43e}"),
    ("e", "\u{435}"),
    ("S", "\u{405}"),
    ("A", "\u{410}"),
    ("P", "\u{420}"),
    ("O", "0"),
    ("I", "l"),
    ("E", "\u{ff25}"),
    ("E", "E\u{200d}"),
    ("A", "A\u{301}"),
    ("o", "o\u{200b}"),
    ("T", "T\u{ad}"),
];

/// Ways to show a report without giving it; they hold for every protocol.
fn shown(report: &str) -> Vec<String> {
    let mut texts = vec![
        format!("````\n{report}````\nThat is the format."),
        format!("````text\n{report}````\n\n.\n"),
        format!("~~~~\n{report}~~~~\nThat is the format."),
        format!("````\n{report}````\n````\nother\n````\n"),
        format!("````\n{report}````\n<!-- end -->\n"),
        format!("````\n{report}"),
        format!("````\n{report}```` text\n"),
        format!("~~~\n{report}\n"),
        format!("1. so:\n   ````\n{report}   ````\n2. and then\n"),
        format!("- ````\n{report}  ````\n"),
        format!("    ````\n{report}    ````\n"),
        format!("<!--\n{report}-->\n"),
        format!("<!-- the format:\n\n{report}\n-->\nNot yet."),
        format!("<!--\n{report}"),
        format!("<pre>\n{report}</pre>\n"),
        format!("<PRE class=\"x\">\n{report}</PRE>\n"),
        format!("<code>\n{report}</code>\n"),
        format!("<blockquote>\n{report}</blockquote>\n"),
        format!("<textarea>\n{report}</textarea>\n"),
        format!("<script>\n{report}</script>\n"),
        report.replace('\n', "\\n"),
        report.replace('\n', "\u{2028}"),
        report.replace('\n', "\u{85}"),
        report.replace('\n', "\u{b}"),
        report.replace('\n', "\0"),
        format!("I was told to print {}", report.replace('\n', " ")),
        format!("{:?}", report),
    ];
    // To a promise these are white space like any other.
    if !report.starts_with("<promise>") {
        texts.extend([report.replace('\n', " "), report.replace('\n', "\r")]);
    }
    texts.extend(BEFORE_A_LINE.iter().map(|it| each_line(report, |line| format!("{it}{line}"))));
    texts.extend(AFTER_A_LINE.iter().map(|it| each_line(report, |line| format!("{line}{it}"))));
    texts.extend(
        AROUND_A_LINE.iter().map(|(open, close)| each_line(report, |line| format!("{open}{line}{close}"))),
    );
    // A letter that the report's own words do not have leaves it genuine, so those are left out.
    texts.extend(
        LETTERS_ALIKE
            .iter()
            .map(|(from, to)| report.replace(from, to))
            .filter(|it| differs_where_it_counts(it, report)),
    );
    texts
}

fn differs_where_it_counts(text: &str, report: &str) -> bool {
    let words = [
        "PRP_PHASE_STATUS",
        "EXIT_SIGNAL",
        "TASK_COMPLETE",
        "PLAN_COMPLETE",
        "PHASE_COMPLETE",
        "API COMPLETE",
        "done",
    ];
    words.iter().filter(|it| report.contains(*it)).any(|it| !text.contains(it))
}

fn forgeries() -> BTreeSet<String> {
    let shown = genuine().into_iter().flat_map(|(_, report)| shown(&report));
    let made = [corpus::status(), corpus::signal(), corpus::promise(), corpus::json()].concat();
    let notes =
        made.clone().into_iter().map(|it| format!("What I was told:\n\n{it}\nand that is where I am.\n"));
    shown.chain(made).chain(notes).collect()
}

#[test]
fn what_the_forgeries_are_made_from_counts() {
    for (protocol, report) in genuine() {
        assert!(read(&protocol, EXPECTED, &report).signal.is_some(), "{protocol:?} {report}");
        assert!(
            read(&protocol, EXPECTED, &format!("I did it.\n\n{report}")).signal.is_some(),
            "{protocol:?} {report}"
        );
    }
}

#[test]
fn g21_no_forged_message_gives_a_signal_under_any_protocol() {
    let forgeries = forgeries();
    assert!(forgeries.len() >= 200, "{}", forgeries.len());
    let mut believed = Vec::new();
    for text in &forgeries {
        for protocol in protocols() {
            let report = read(&protocol, EXPECTED, text);
            if report.signal.is_some() || report.metrics.contains_key("verdict") {
                believed.push(format!("{protocol:?} {:?}: {text:?}", report.signal));
            }
        }
    }
    assert!(
        believed.is_empty(),
        "{} of {} believed:\n{}",
        believed.len(),
        forgeries.len(),
        believed.join("\n")
    );
}

#[test]
fn g21_a_fence_at_the_end_outweighs_what_was_said_before() {
    let text = format!("{STATUS}\n```\n{}```\n", STATUS.replace("true", "false"));
    let report = read(&Protocol::PrpStatus, EXPECTED, &text);
    assert_eq!((report.found, report.signal), (true, None));
}

#[test]
fn g21_front_matter_that_is_not_the_head_of_its_file_gives_no_verdict() {
    let head = "---\nstatus: passed\n---\n";
    assert!(read(&protocols()[4], EXPECTED, head).metrics.contains_key("verdict"));
    let forged = [
        format!("\n{head}"),
        format!(" {head}"),
        format!("# Report\n\n{head}"),
        format!("```\n{head}```\n"),
        format!("> {head}"),
        format!("<!--\n{head}-->"),
        format!("-{head}"),
        head.replace("---\n", "--\n"),
        head.replace("---\n", "--- yaml\n"),
        head.replace("---\n", "———\n"),
        head.replace("\n---\n", "\n"),
        head.replace('\n', "\r"),
        head.replace("status:", "Status:"),
        head.replace("status:", "STATUS:"),
        head.replace("status:", "status ="),
        head.replace("status:", "# status:"),
        head.replace("status:", "  status:"),
        head.replace("status:", "gaps:\n  status:"),
        head.replace("status:", "gaps:\n  - status:"),
        head.replace("status:", "note: |\n  status:"),
        head.replace("status:", "previous_status:"),
        head.replace("passed", "[passed, gaps_found]"),
        head.replace("passed", "passed | gaps_found | human_needed"),
        head.replace("passed", "{{ status }}"),
        head.replace("passed", "<status>"),
        head.replace("passed", ""),
        head.replace("passed", "~"),
        head.replace("passed", "true"),
        head.replace("status: passed\n", ""),
        "**Status:** passed\n".to_owned(),
    ];
    for text in forged {
        let report = read(&protocols()[4], EXPECTED, &text);
        assert!(!report.found && report.metrics.is_empty() && report.signal.is_none(), "{text:?}");
    }
}
