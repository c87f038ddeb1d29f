//! What holds for every text: nothing panics, what was written is read back, what is kept is bounded,
//! and large hostile inputs come to an end. The last is checked by size and not by a clock: at these
//! sizes anything quadratic would outlast every patience.

use super::text_limits::TEXT_CHARS;
use super::{Expected, Report, Trouble, read};
use crate::workflow::model::{ErrorClass, Protocol, SignalWord};
use loop_base::value::Value;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const EXPECTED: Expected<'_> =
    Expected { phase: "GREEN", promise: "API COMPLETE", prompt: "", generates_tests: false };

fn protocols() -> [Protocol; 6] {
    let file = Protocol::Frontmatter("*.md".to_owned());
    [Protocol::PrpStatus, Protocol::ExitSignal, Protocol::Promise, Protocol::Json, file, Protocol::None]
}

/// One well-formed report of each protocol.
const REPORTS: [&str; 5] = [
    "---PRP_PHASE_STATUS---\nPHASE: GREEN\nSTATUS: BLOCKED\nTESTS:\n  TOTAL: 3\n  PASSING: 2\n  FAILING: 1\nBLOCKERS:\n  - no key\n\
     METRICS:\n  has_adr: true\nEXIT_SIGNAL: true\n---END_PRP_PHASE_STATUS---\n",
    "---\nEXIT_SIGNAL: STUCK: no: key\nCOMMIT: abc1234\nTASK: 3\n---\n",
    "<promise>\nAPI COMPLETE\n</promise>\n",
    "```json\n{\"status\":\"done\",\"metrics\":{\"a\":1},\"error\":{\"class\":\"test\",\"text\":\"x\"},\"gates\":[\"g\"]}\n```\n",
    "---\nstatus: gaps_found\ngaps:\n  - truth: \"a\"\n    missing: [x]\nscore: 1/2\n---\n",
];

fn assert_bounded(report: &Report) {
    let lists = [&report.blockers, &report.deliverables, &report.gates, &report.items, &report.notes];
    assert!(lists.iter().all(|it| it.len() <= 200 && it.iter().all(|it| it.chars().count() <= TEXT_CHARS)));
    assert!(report.metrics.len() <= 200);
    for (name, value) in &report.metrics {
        let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_';
        assert!((1..=64).contains(&name.len()) && name.bytes().all(is_plain), "{name:?}");
        match value {
            Value::Text(text) => assert!(text.chars().count() <= TEXT_CHARS && !text.contains('\u{1b}')),
            Value::Number(number) => assert!(number.is_finite()),
            Value::Bool(_) | Value::Int(_) => {}
        }
    }
    if let Some(Trouble { class, text }) = &report.error {
        assert!(class.word().len() < 20 && text.chars().count() <= 8_000);
    }
    assert!(report.summary.iter().chain(&report.stuck).all(|it| it.chars().count() <= 4_000));
}

/// Pieces of every grammar that is read here, so that random texts come near to reports.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "---PRP_PHASE_STATUS---", "---END_PRP_PHASE_STATUS---", "---", "...", "PHASE: GREEN", "PHASE:", "EXIT_SIGNAL: true",
            "EXIT_SIGNAL: TASK_COMPLETE", "EXIT_SIGNAL: STUCK:", "TESTS:", "  TOTAL: 5", "  - a", "- a", "\tX: 1", "<promise>",
            "</promise>", "API COMPLETE", "```", "````", "~~~", "```json", "> ", "`", "``", "<!--", "-->", "<pre>", "</pre>",
            "{\"status\":\"done\"}", "{", "}", "[", "]", "\"", "status: passed", "gaps:", "GREEN_PHASE_METRICS:", "METRICS:",
            "## CHECKPOINT REACHED", "Type: x", "\r", "\0", "\u{feff}", "\u{202e}", "é", "\u{200b}", " ", ":", "\\", "#", "|",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "", " "]);
    prop::collection::vec((piece, end), 0..40)
        .prop_map(|pieces| pieces.into_iter().fold(String::new(), |text, (piece, end)| text + &piece + end))
}

fn word() -> impl Strategy<Value = String> {
    "[A-Za-z][A-Za-z0-9 ,:/()é-]{0,30}[a-z]".prop_filter("a word that means something", |it| {
        !["none", "true", "false", "null"].contains(&it.to_lowercase().as_str())
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Int),
        any::<bool>().prop_map(Value::Bool),
        (-99_999..99_999_i32).prop_map(|it| Value::Number(f64::from(it) + 0.5)),
        word().prop_map(Value::Text),
    ]
}

fn metrics() -> impl Strategy<Value = BTreeMap<String, Value>> {
    prop::collection::btree_map("m_[a-z0-9_]{1,20}", value(), 0..20)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bool(_) | Value::Int(_) | Value::Number(_) => value.to_string(),
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic_and_kept_within_limits(text in any::<String>()) {
        for protocol in protocols() {
            assert_bounded(&read(&protocol, EXPECTED, &text));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        for protocol in protocols() {
            assert_bounded(&read(&protocol, EXPECTED, &String::from_utf8_lossy(&bytes)));
        }
    }

    #[test]
    fn texts_made_of_pieces_of_reports_are_read_without_panic(text in pieces(), phase in ".{0,5}", promise in ".{0,5}") {
        for protocol in protocols() {
            assert_bounded(&read(&protocol, EXPECTED, &text));
            assert_bounded(&read(&protocol, Expected { phase: &phase, promise: &promise, prompt: "", ..Expected::default() }, &text));
        }
    }

    #[test]
    fn spoiled_reports_are_read_without_panic(
        which in 0..REPORTS.len(),
        spoils in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, any::<u8>()), 1..6),
    ) {
        let mut bytes = REPORTS[which].as_bytes().to_vec();
        for (at, how, byte) in spoils {
            let at = at.index(bytes.len().max(1));
            match how {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        for protocol in protocols() {
            assert_bounded(&read(&protocol, EXPECTED, &String::from_utf8_lossy(&bytes)));
        }
    }

    #[test]
    fn a_status_block_gives_back_what_was_written(
        metrics in metrics(), counts in [0..1_000_i64, 0..1_000, 0..1_000], blockers in prop::collection::vec(word(), 0..5),
        error in prop::option::of(word()), signal in any::<bool>(), crlf in any::<bool>(), fenced in any::<bool>(), before in word(),
    ) {
        let [passing, failing, skipped] = counts;
        let total = passing + failing + skipped;
        let mut block = format!("{before}\n\n---PRP_PHASE_STATUS---\nPHASE: green\nTESTS:\n  TOTAL: {total}\n  PASSING: {passing}\n");
        writeln!(block, "  FAILING: {failing}\n  SKIPPED: {skipped}\nBLOCKERS:").unwrap();
        for blocker in &blockers {
            writeln!(block, "  - {blocker}").unwrap();
        }
        block += "METRICS:\n";
        for (name, value) in &metrics {
            writeln!(block, "  {}: {}", name.to_uppercase(), shown(value)).unwrap();
        }
        if let Some(error) = &error {
            writeln!(block, "ERROR: {error}").unwrap();
        }
        writeln!(block, "EXIT_SIGNAL: {signal}\n---END_PRP_PHASE_STATUS---").unwrap();
        if fenced {
            block = block.replace("---PRP_", "```\n---PRP_") + "```\n";
        }
        if crlf {
            block = block.replace('\n', "\r\n");
        }
        let mut expected = Report { found: true, metrics, blockers, ..Report::default() };
        for (name, value) in [("total", total), ("passing", passing), ("failing", failing), ("skipped", skipped)] {
            expected.metrics.insert(format!("tests_{name}"), Value::Int(value));
        }
        expected.signal = signal.then_some(SignalWord::Exit);
        expected.error = error.map(|text| Trouble { class: ErrorClass::Other, text });
        prop_assert_eq!(read(&Protocol::PrpStatus, EXPECTED, &block), expected);
    }

    #[test]
    fn an_exit_signal_gives_back_what_was_written(
        word_index in 0..3_usize, reason in prop::option::of(word()), task in word(), commit in "[0-9a-f]{7}", before in word(),
    ) {
        let word = ["TASK_COMPLETE", "PLAN_COMPLETE", "PHASE_COMPLETE"][word_index];
        let signal = reason.as_ref().map_or(word.to_owned(), |it| format!("STUCK: {it}"));
        let text = format!("{before}\n\n---\nEXIT_SIGNAL: {signal}\nITERATION: 7\nTASK: {task}\nCOMMIT: {commit}\n---");
        let metrics = [("iteration", Value::Int(7)), ("task", Value::Text(task)), ("commit", Value::Text(commit))];
        let expected = Report {
            found: true,
            signal: reason.is_none().then(|| word.to_owned().into()),
            stuck: reason,
            metrics: metrics.map(|(key, value)| (key.to_owned(), value)).into(),
            ..Report::default()
        };
        prop_assert_eq!(read(&Protocol::ExitSignal, EXPECTED, &text), expected);
    }

    #[test]
    fn a_promise_is_given_by_its_own_text_and_no_other(promise in word(), other in word(), before in word()) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        // A promise has at most ten lines.
        let spread = words(&promise).chunks(3).map(|it| it.join(" ")).collect::<Vec<_>>().join("\n  ");
        let text = format!("{before}\n\n<promise>\n{spread}\n</promise>\n");
        let expected = Report { found: true, signal: Some(promise.clone().into()), ..Report::default() };
        prop_assert_eq!(read(&Protocol::Promise, Expected { phase: "", promise: &promise, prompt: "", ..Expected::default() }, &text), expected);
        let same = words(&promise) == words(&other);
        let answer = read(&Protocol::Promise, Expected { phase: "", promise: &other, prompt: "", ..Expected::default() }, &text);
        prop_assert_eq!(answer.signal.is_some(), same);
    }

    #[test]
    fn a_json_report_gives_back_what_was_written(
        metrics in metrics(), summary in word(), gates in prop::collection::vec(word(), 0..5), fenced in any::<bool>(),
    ) {
        let object = serde_json::json!({ "status": "done", "summary": summary, "metrics": metrics, "gates": gates });
        let text = if fenced { format!("x\n\n```json\n{object:#}\n```") } else { object.to_string() };
        let expected = Report {
            found: true, signal: Some(SignalWord::Done), summary: Some(summary), metrics, gates, ..Report::default()
        };
        prop_assert_eq!(read(&Protocol::Json, EXPECTED, &text), expected);
    }

    #[test]
    fn front_matter_gives_back_what_was_written(metrics in metrics(), verdict in "[a-z_]{1,20}", gaps in 1..30_usize) {
        prop_assume!(!["true", "false", "null"].contains(&verdict.as_str()));
        let mut file = format!("---\nstatus: {verdict}\ngaps:\n{}", "  - truth: x\n    missing:\n      - y\n".repeat(gaps));
        for (name, value) in &metrics {
            match value {
                Value::Text(text) => writeln!(file, "{name}: \"{text}\"").unwrap(),
                Value::Bool(_) | Value::Int(_) | Value::Number(_) => writeln!(file, "{name}: {value}").unwrap(),
            }
        }
        file += "---\n# Report\nstatus: other\n";
        let mut expected = Report { found: true, metrics, ..Report::default() };
        expected.metrics.insert("verdict".to_owned(), Value::Text(verdict));
        expected.metrics.insert("gaps".to_owned(), Value::from(gaps));
        expected.blockers = vec!["x".to_owned(); gaps];
        prop_assert_eq!(read(&Protocol::Frontmatter(String::new()), EXPECTED, &file), expected);
    }
}

/// Texts that invite a reader to look at the same thing again and again.
const UNITS: [&str; 41] = [
    "\n",
    "x",
    "`",
    "`\n",
    "`` `\n",
    "```\n",
    "```\n```\n",
    "a\n```\n```\n",
    "> a\n",
    "<!--",
    "<!--\n",
    "<pre>\n</pre>\n",
    "<promise>",
    "<promise>\n",
    "<promise></promise>\n",
    "<promise>a\n\n",
    "---\n",
    "---PRP_PHASE_STATUS---\n",
    "---PRP_PHASE_STATUS---\n---END_PRP_PHASE_STATUS---\n",
    "X_METRICS:\n",
    "X_METRICS:\n  a: 1\n",
    "EXIT_SIGNAL: a\n",
    "A: 1\n",
    "A:\n",
    "A:\n  b: 1\n",
    "- a\n",
    "[",
    "{",
    "{\"a\":",
    "\"",
    "\\",
    "\r",
    "\0",
    "\u{202e}",
    "## CHECKPOINT REACHED\n",
    " ",
    "\t",
    "#\n",
    "key: [",
    "key: \"",
    ",",
];

#[test]
fn hostile_texts_come_to_an_end_for_every_protocol() {
    let starts = ["", "---\n", "---PRP_PHASE_STATUS---\n", "```json\n", "{\"status\":"];
    for (index, unit) in UNITS.iter().enumerate() {
        let text = format!("{}{}", starts[index % starts.len()], unit.repeat(64 * 1024 / unit.len()));
        for protocol in protocols() {
            assert_bounded(&read(&protocol, EXPECTED, &text));
        }
    }
}

#[test]
fn g33_eight_megabytes_come_to_an_end() {
    let [status, signal, promise, json, file, _] = protocols();
    let cases = [
        (
            status,
            "---PRP_PHASE_STATUS---\n",
            "A:\n  a_member: with a value that is as long as a line of prose\n",
        ),
        (signal, "", "EXIT_SIGNAL: a word that nobody has ever agreed upon\nA: 1\n"),
        (promise, "", "<promise>a text that is opened and is never closed again\n\n"),
        (json, "{\"status\":", "["),
        (file, "---\n", "a: [\n"),
    ];
    for (protocol, start, unit) in cases {
        let text = format!("{start}{}", unit.repeat(8 * 1024 * 1024 / unit.len()));
        let report = read(&protocol, EXPECTED, &text);
        assert_bounded(&report);
        assert!(!report.found && !report.notes.is_empty() || protocol == Protocol::Promise, "{protocol:?}");
    }
}

#[test]
fn en_06_the_last_report_is_found_after_eight_megabytes() {
    let noise = "a line of output with `code` in it\n".repeat(8 * 1024 * 1024 / 35);
    let block = "\n---PRP_PHASE_STATUS---\nPHASE: GREEN\nEXIT_SIGNAL: true\n---END_PRP_PHASE_STATUS---\n";
    let report = read(&Protocol::PrpStatus, EXPECTED, &format!("{noise}{block}"));
    assert_eq!(report, Report { found: true, signal: Some(SignalWord::Exit), ..Report::default() });
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let expected = ["exit", "TASK_COMPLETE", "API COMPLETE", "done"];
    let texts = [REPORTS[0], "EXIT_SIGNAL: TASK_COMPLETE", REPORTS[2], "{\"status\":\"done\"}"];
    for ((protocol, text), signal) in protocols().iter().zip(texts).zip(expected) {
        let report = read(protocol, EXPECTED, &format!("\u{feff}{text}"));
        assert_eq!(report.signal.as_ref().map(SignalWord::word), Some(signal), "{protocol:?}");
    }
    let file = read(&protocols()[4], EXPECTED, &format!("\u{feff}{}", REPORTS[4]));
    assert_eq!(file.metrics["verdict"], Value::from("gaps_found"));
}

#[test]
fn without_a_protocol_nothing_is_read_and_nothing_is_missing() {
    for text in REPORTS {
        assert_eq!(read(&Protocol::None, EXPECTED, text), Report { found: true, ..Report::default() });
    }
}
