//! The `prp-status` protocol: the last complete block between `---PRP_PHASE_STATUS---` and
//! `---END_PRP_PHASE_STATUS---`. `EXIT_SIGNAL: true` asks to leave the phase, and nothing else does;
//! every other key is a claim. A block of another phase is an echo and counts as missing. What a block
//! lacks (the metrics of its phase) may stand in a `METRICS:` section or in a YAML block of its own
//! under a key that ends in `_METRICS`, which is laid over the block's own values. Nothing is measured
//! here, and nothing is compared with what was.

use super::block::{HIDDEN, LinePlace, Survey};
use super::simple_yaml::{self, Entry, Outline, scalar};
use super::text_limits::{ERROR_CHARS, SUMMARY_CHARS, clean, is_none, push, quote};
use super::{Report, Trouble, VERDICT};
use crate::facts::FactName;
use crate::workflow::model::{ErrorClass, SignalWord};
use loop_base::value::Value;
use std::ops::Range;

const OPEN: &str = "---PRP_PHASE_STATUS---";
const CLOSE: &str = "---END_PRP_PHASE_STATUS---";
const SIGNAL: &str = "EXIT_SIGNAL";

pub(super) fn read(phase: &str, generates_tests: bool, text: &str) -> Report {
    let survey = Survey::of(text);
    let found = find(&survey);
    let mut report = Report::default();
    let Some(block) = found.block else {
        report.note(match (found.is_unclosed, found.is_hidden) {
            (true, _) => "the status block is not closed by ---END_PRP_PHASE_STATUS---",
            (false, true) => HIDDEN,
            (false, false) => "the message has no status block",
        });
        return report;
    };
    let body = outline_of(&survey, &block);
    if let Some(other) = other_phase(phase, &body) {
        report.note(&format!(
            "the status block is of phase {}, and the running phase is {phase}",
            quote(other)
        ));
        return report;
    }
    report.found = true;
    note_oddities(&mut report, &body, found.is_unclosed);
    report.signal = has_signal(&mut report, &body).then_some(SignalWord::Exit);
    take_entries(&mut report, &body);
    check_counts(&mut report);
    for entry in body.entries.iter().filter(|it| is_metrics(it.key)) {
        lay_over(&mut report, phase, entry);
    }
    if let Some(companion) = &found.companion {
        for entry in &outline_of(&survey, companion).entries {
            lay_over(&mut report, phase, entry);
        }
    }
    check_counts(&mut report);
    // A phase that generates tests has generated the tests that it has, unless it says otherwise.
    let (generated, total) = (FactName::TestsGenerated.name(), FactName::TestsTotal.name());
    if generates_tests
        && !report.metrics.contains_key(generated)
        && let Some(total) = report.metrics.get(total).cloned()
    {
        report.keep(generated, total);
    }
    report
}

#[derive(Default)]
struct FoundStatus {
    block: Option<StatusPart>,
    /// The last block of metrics outside every status block.
    companion: Option<StatusPart>,
    /// The last opening marker has no closing one.
    is_unclosed: bool,
    is_hidden: bool,
}

struct StatusPart {
    bytes: Range<usize>,
    place: LinePlace,
}

fn find(survey: &Survey<'_>) -> FoundStatus {
    let mut found = FoundStatus::default();
    let mut begun: Option<StatusPart> = None;
    let mut companion: Option<StatusPart> = None;
    for line in survey.lines() {
        let is_readable = matches!(line.place, LinePlace::Open | LinePlace::LastFence);
        // Inside a block an error may hold a stray backtick, so inline code is not looked for there.
        let is_inside = begun.as_ref().is_some_and(|it| stands_in(it, line.place));
        if let Some(part) = companion.take_if(|it| it.place != line.place || !is_indented(line.text)) {
            found.companion = Some(part);
        }
        if let Some(part) = &mut companion {
            part.bytes.end = line.end;
        }
        match line.text {
            OPEN if is_readable || is_inside => {
                begun = Some(StatusPart { bytes: line.end..line.end, place: line.place });
            }
            OPEN => found.is_hidden = true,
            CLOSE if is_inside => {
                found.block =
                    begun.take().map(|it| StatusPart { bytes: it.bytes.start..line.start, place: it.place });
            }
            _ if is_readable
                && begun.is_none()
                && simple_yaml::split(line.text).is_some_and(is_metrics_header) =>
            {
                companion = Some(StatusPart { bytes: line.start..line.end, place: line.place });
            }
            _ => {}
        }
    }
    found.is_unclosed = begun.is_some();
    found.companion = companion.or(found.companion);
    found
}

fn stands_in(part: &StatusPart, place: LinePlace) -> bool {
    place == part.place || (part.place == LinePlace::Open && place == LinePlace::Span)
}

fn is_indented(line: &str) -> bool {
    line.is_empty() || line.starts_with([' ', '\t'])
}

fn is_metrics_header((key, value): (&str, &str)) -> bool {
    is_metrics(key) && key != "METRICS" && value.is_empty()
}

fn is_metrics(key: &str) -> bool {
    key == "METRICS" || key.ends_with("_METRICS")
}

fn outline_of<'a>(survey: &Survey<'a>, part: &StatusPart) -> Outline<'a> {
    let lines = survey.lines().skip_while(|it| it.start < part.bytes.start);
    let lines = lines.take_while(|it| it.start < part.bytes.end);
    simple_yaml::read(lines.filter(|it| stands_in(part, it.place)).map(|it| it.text))
}

/// A block that names two phases is of neither.
fn other_phase<'a>(phase: &str, body: &Outline<'a>) -> Option<&'a str> {
    let phases = body.entries.iter().filter(|it| it.key.eq_ignore_ascii_case("PHASE"));
    phases.map(|it| it.value).find(|it| !it.eq_ignore_ascii_case(phase))
}

fn note_oddities(report: &mut Report, body: &Outline<'_>, is_unclosed: bool) {
    if is_unclosed {
        report.note("the last status block is not closed; the one before it was read");
    }
    if let Some(row) = body.unreadable {
        report.note(&format!("the status block has a line that is not a key: {}", quote(row)));
    }
    if body.is_cut {
        report.note("the status block is too long; its end was not read");
    }
    if !body.entries.iter().any(|it| it.key == "PHASE") {
        report.note("the status block has no PHASE line");
    }
}

/// Only the literal `true` is one, and only where every such line says it.
fn has_signal(report: &mut Report, body: &Outline<'_>) -> bool {
    let values = || body.entries.iter().filter(|it| it.key == SIGNAL).map(|it| it.value);
    let said = values().filter(|it| it.eq_ignore_ascii_case("true")).count();
    let all = values().count();
    if said > 0 && said < all {
        report.note("the status block has different EXIT_SIGNAL lines; taken as false");
    }
    said > 0 && said == all
}

fn take_entries(report: &mut Report, body: &Outline<'_>) {
    let mut is_blocked = false;
    for entry in &body.entries {
        match entry.key {
            // The time is ours: an agent has no clock that anybody trusts.
            "TIMESTAMP" => {}
            _ if entry.key.eq_ignore_ascii_case(SIGNAL) || entry.key.eq_ignore_ascii_case("PHASE") => {}
            "BLOCKERS" => take_blockers(report, entry),
            "ERROR" => report.error = error_of(first_text(entry)),
            "RECOMMENDATION" => {
                report.summary = Some(clean(first_text(entry), SUMMARY_CHARS)).filter(|it| !it.is_empty());
            }
            "VERDICT" => report.keep_verdict(entry.value),
            "STATUS" => {
                is_blocked = entry.value.eq_ignore_ascii_case("BLOCKED");
                report.keep("status", Value::Text(entry.value.to_ascii_uppercase()));
            }
            key if is_metrics(key) => {}
            key if entry.is_section() && entry.members.is_empty() => {
                let only_none = entry.items.iter().all(|it| is_none(it));
                report.keep(key, Value::from(if only_none { 0 } else { entry.len() }));
            }
            key if entry.is_section() => {
                for member in &entry.members {
                    report.keep(&format!("{key}_{}", member.key), Value::read(member.value));
                }
            }
            key => report.keep(key, Value::read(entry.value)),
        }
    }
    if is_blocked && report.error.is_none() {
        report.error = report.blockers.first().and_then(|it| error_of(it));
    }
}

fn take_blockers(report: &mut Report, entry: &Entry<'_>) {
    report.blockers.clear();
    let texts = entry.items.iter().copied().chain([entry.value]);
    for text in texts.filter(|it| !is_none(it)) {
        if !push(&mut report.blockers, text) {
            return report.note("the status block has more blockers than are kept");
        }
    }
}

/// The text of a key, which may begin on the line below it.
fn first_text<'a>(entry: &Entry<'a>) -> &'a str {
    if entry.is_section() { entry.first_line.unwrap_or_default() } else { entry.value }
}

fn error_of(text: &str) -> Option<Trouble> {
    let text = text.strip_prefix("- ").unwrap_or(text);
    (!is_none(text)).then(|| Trouble { class: ErrorClass::Other, text: clean(text, ERROR_CHARS) })
}

fn lay_over(report: &mut Report, phase: &str, entry: &Entry<'_>) {
    let suffixes = ["_PHASE_METRICS", "_VALIDATION_METRICS"];
    let named = suffixes.iter().find_map(|it| entry.key.strip_suffix(it));
    if named.is_some_and(|it| !it.eq_ignore_ascii_case(phase)) {
        return report.note(&format!("{} is of another phase and was not read", quote(entry.key)));
    }
    for member in &entry.members {
        let value = match member.value {
            "" if member.rows > 0 => Some(Value::from(member.rows)),
            value => scalar(value),
        };
        match (member.key.eq_ignore_ascii_case(VERDICT), value) {
            (true, Some(Value::Text(text))) => {
                let before = report.metrics.get(VERDICT).cloned();
                report.keep_verdict(&text);
                if before.is_some() && before.as_ref() != report.metrics.get(VERDICT) {
                    report.note("VERDICT and the verdict among the metrics differ; the metrics count");
                }
            }
            // The reviewer counts items of a list; the engine counts commands that it ran.
            (_, Some(value)) if member.key.eq_ignore_ascii_case(FactName::ChecksFailing.name()) => {
                report.keep("qa_checks_failing", value);
            }
            (_, Some(value)) => report.keep(member.key, value),
            (_, None) => {}
        }
    }
}

/// Counts that are no counts, or that do not add up, are worth nothing.
fn check_counts(report: &mut Report) {
    let names = ["tests_total", "tests_passing", "tests_failing", "tests_skipped"];
    let counts = names.map(|name| report.metrics.get(name));
    let broken = counts.iter().flatten().any(|it| !matches!(it, Value::Int(0..)));
    let number = |it: Option<&Value>| match it {
        Some(Value::Int(it)) => Some(i128::from(*it)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Text(_)) | None => None,
    };
    let [total, passing, failing, skipped] = counts.map(number);
    let differ = match (total, passing, failing) {
        (Some(total), Some(passing), Some(failing)) => passing + failing + skipped.unwrap_or(0) != total,
        (_, _, _) => false,
    };
    if broken || differ {
        report.counts_broken = true;
        report.note("the test counts contradict themselves: PASSING + FAILING + SKIPPED is not TOTAL");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(phase: &str, text: &str) -> Report {
        super::read(phase, false, text)
    }

    fn metrics(pairs: &[(&str, Value)]) -> BTreeMap<String, Value> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }

    fn block(body: &str) -> String {
        format!("{OPEN}\nPHASE: GREEN\n{body}\n{CLOSE}\n")
    }

    fn found(pairs: &[(&str, Value)]) -> Report {
        Report { found: true, metrics: metrics(pairs), ..Report::default() }
    }

    fn missing(note: &str) -> Report {
        Report { notes: vec![note.to_owned()], ..Report::default() }
    }

    const FULL: &str = "---PRP_PHASE_STATUS---\nTIMESTAMP: 2026-01-13T10:30:00Z\nPHASE: GREEN\nSTATUS: IN_PROGRESS\n\
        ITERATION: 3\nPROGRESS_PERCENT: 60\n\nTESTS:\n  TOTAL: 10\n  PASSING: 8\n  FAILING: 2\n  SKIPPED: 0\n\n\
        FILES:\n  CREATED: 1\n  MODIFIED: 4\n  DELETED: 0\n\nCIRCUIT_BREAKER:\n  STATE: CLOSED\n\
        \x20 NO_PROGRESS_COUNT: 0\n\nRATE_LIMIT:\n  HOURLY: 41/100\n  5H_LIMIT: OK\n\nBLOCKERS:\n  - none\n\n\
        EXIT_SIGNAL: false\nRECOMMENDATION: continue: two tests are left\n---END_PRP_PHASE_STATUS---\n";

    #[test]
    fn bp_69_the_full_block_of_the_seed_is_read() {
        let expected = Report {
            summary: Some("continue: two tests are left".into()),
            ..found(&[
                ("status", Value::from("IN_PROGRESS")),
                ("iteration", Value::Int(3)),
                ("progress_percent", Value::Int(60)),
                ("tests_total", Value::Int(10)),
                ("tests_passing", Value::Int(8)),
                ("tests_failing", Value::Int(2)),
                ("tests_skipped", Value::Int(0)),
                ("files_created", Value::Int(1)),
                ("files_modified", Value::Int(4)),
                ("files_deleted", Value::Int(0)),
                ("circuit_breaker_state", Value::from("CLOSED")),
                ("circuit_breaker_no_progress_count", Value::Int(0)),
                ("rate_limit_hourly", Value::from("41/100")),
                ("rate_limit_5h_limit", Value::from("OK")),
            ])
        };
        let spoiled = FULL.replace("  ", "\t").replace('\n', " \t\r\n");
        let fenced = format!("Text\n\n```text\n{FULL}```\n\n");
        for text in [FULL, &spoiled, &fenced, &format!("Text\n{FULL}More text\n")] {
            assert_eq!(read("green", text), expected, "{text}");
        }
    }

    #[test]
    fn bp_66_the_last_complete_block_counts() {
        let (first, second) = (block("A: 1\nEXIT_SIGNAL: true"), block("A: 2"));
        assert_eq!(read("GREEN", &format!("{first}text\n{second}")), found(&[("a", Value::Int(2))]));
        assert_eq!(
            read("GREEN", &format!("{OPEN}\nEXIT_SIGNAL: true\n{second}")),
            found(&[("a", Value::Int(2))])
        );
        let unclosed = read("GREEN", &format!("{second}\n{OPEN}\nPHASE: GREEN\nEXIT_SIGNAL: true\n"));
        let note = "the last status block is not closed; the one before it was read";
        assert_eq!(unclosed, Report { notes: vec![note.into()], ..found(&[("a", Value::Int(2))]) });
    }

    #[test]
    fn bp_68_an_unclosed_or_hidden_or_absent_block_is_no_report() {
        let unclosed = missing("the status block is not closed by ---END_PRP_PHASE_STATUS---");
        assert_eq!(read("GREEN", &format!("{OPEN}\nPHASE: GREEN\nEXIT_SIGNAL: true\n")), unclosed);
        assert_eq!(
            read("GREEN", &format!("```\n{}```\nas above", block("EXIT_SIGNAL: true"))),
            missing(HIDDEN)
        );
        let absent = missing("the message has no status block");
        for text in ["", "All done.", CLOSE, &format!(" {OPEN}\nEXIT_SIGNAL: true\n {CLOSE}")] {
            assert_eq!(read("GREEN", text), absent, "{text}");
        }
        let across = format!("{OPEN}\nPHASE: GREEN\nEXIT_SIGNAL: true\n```\n{CLOSE}\n```\n");
        assert_eq!(read("GREEN", &across), unclosed);
    }

    #[test]
    fn bp_rule_2_a_block_of_another_phase_counts_as_missing() {
        let text = format!("{OPEN}\nPHASE: RED\nEXIT_SIGNAL: true\n{CLOSE}");
        let note = "the status block is of phase \"RED\", and the running phase is GREEN";
        assert_eq!(read("GREEN", &text), missing(note));
        assert_eq!(read("red", &text).signal, Some(SignalWord::Exit));
        assert_eq!(read("GREEN", &block("PHASE: RED\nEXIT_SIGNAL: true")), missing(note));
        let bare = read("GREEN", &format!("{OPEN}\nEXIT_SIGNAL: true\n{CLOSE}"));
        let notes = vec!["the status block has no PHASE line".into()];
        assert_eq!(bare, Report { signal: Some(SignalWord::Exit), notes, ..found(&[]) });
    }

    #[test]
    fn bp_rule_6_only_a_literal_true_is_a_signal() {
        for body in [
            "EXIT_SIGNAL: true",
            "EXIT_SIGNAL: TRUE ",
            "EXIT_SIGNAL:\tTrue\r",
            "EXIT_SIGNAL: true\nEXIT_SIGNAL: true",
        ] {
            assert_eq!(read("GREEN", &block(body)).signal, Some(SignalWord::Exit), "{body}");
        }
        let not = [
            "EXIT_SIGNAL: yes",
            "EXIT_SIGNAL: TASK_COMPLETE",
            "EXIT_SIGNAL: 1",
            "EXIT_SIGNAL: \"true\"",
            "EXIT_SIGNAL: true.",
            "EXIT_SIGNAL: true # when done",
            "EXIT_SIGNAL: true\u{200b}",
            "EXIT_SIGNAL: true\u{a0}",
            "EXIT_SIGNAL:\n  true",
            "EXIT_SIGNAL:",
            "exit_signal: true",
            "Exit_Signal: true",
            "EXIT-SIGNAL: true",
            " EXIT_SIGNAL: true",
            "DUAL_GATE:\n  EXIT_SIGNAL: true",
            "METRICS:\n  EXIT_SIGNAL: true",
            "EXIT_SIGNAL: true\nEXIT_SIGNAL: false",
            "EXIT_SIGNAL: false\nEXIT_SIGNAL: true",
            "- EXIT_SIGNAL: true",
            "```\nEXIT_SIGNAL: true\n```",
        ];
        for body in not {
            assert_eq!(read("GREEN", &block(body)).signal, None, "{body}");
        }
    }

    #[test]
    fn bp_41_complete_is_no_signal() {
        let report = read("GREEN", &block("STATUS: complete"));
        assert_eq!(report, found(&[("status", Value::from("COMPLETE"))]));
    }

    #[test]
    fn bp_70_blockers_are_listed_and_none_is_empty() {
        let cases: [(&str, &[&str]); 6] = [
            ("BLOCKERS:\n  - none", &[]),
            ("BLOCKERS:\n- None", &[]),
            ("BLOCKERS: none", &[]),
            ("BLOCKERS:", &[]),
            ("BLOCKERS:\n  - no schema: yet\n  - no key", &["no schema: yet", "no key"]),
            ("BLOCKERS: no key", &["no key"]),
        ];
        for (body, blockers) in cases {
            let blockers = blockers.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(read("GREEN", &block(body)), Report { blockers, ..found(&[]) }, "{body}");
        }
    }

    #[test]
    fn bp_rule_9_the_error_is_its_line_or_the_first_blocker_of_a_blocked_phase() {
        let error = |text: &str| Some(Trouble { class: ErrorClass::Other, text: text.into() });
        let cases = [
            ("ERROR: E0308: mismatched `types", error("E0308: mismatched `types")),
            ("ERROR:\n  E0308", error("E0308")),
            ("ERROR: none", None),
            ("STATUS: BLOCKED\nBLOCKERS:\n  - none\n  - no key\n  - other", error("no key")),
            ("BLOCKERS:\n  - no key\nSTATUS: BLOCKED\nERROR: E1", error("E1")),
            ("STATUS: IN_PROGRESS\nBLOCKERS:\n  - no key", None),
            ("STATUS: BLOCKED\nBLOCKERS:\n  - none", None),
        ];
        for (body, expected) in cases {
            assert_eq!(read("GREEN", &block(body)).error, expected, "{body}");
        }
        let long = "x".repeat(900);
        assert_eq!(read("GREEN", &block(&format!("ERROR: {long}"))).error, error(&long));
    }

    #[test]
    fn bp_71_counts_that_do_not_add_up_are_not_believed() {
        let tests = |total: &str, passing: &str, failing: &str, skipped: &str| {
            block(&format!(
                "TESTS:\n  TOTAL: {total}\n  PASSING: {passing}\n  FAILING: {failing}\n  SKIPPED: {skipped}"
            ))
        };
        let note = "the test counts contradict themselves: PASSING + FAILING + SKIPPED is not TOTAL";
        let broken = [
            tests("11", "5", "5", "0"),
            tests("10", "12", "-2", "0"),
            tests("many", "5", "5", "0"),
            tests("10.5", "5", "5.5", "0"),
            tests("-2", "9223372036854775807", "9223372036854775807", "0"),
            block("TESTS:\n  TOTAL: 10\n  PASSING: 10\n  FAILING: 0\nMETRICS:\n  tests_failing: 3"),
            block("TESTS:\n  TOTAL: 9\n  PASSING: 10\n  FAILING: 0\nMETRICS:\n  tests_total: 10"),
        ];
        for text in broken {
            let report = read("GREEN", &text);
            assert_eq!((report.counts_broken, report.notes), (true, vec![note.to_owned()]), "{text}");
        }
        for text in [tests("10", "5", "4", "1"), block("TESTS:\n  TOTAL: 2\n  PASSING: 2\n  FAILING: 0")] {
            assert!(!read("GREEN", &text).counts_broken, "{text}");
        }
    }

    #[test]
    fn bp_rule_4_unknown_keys_and_lists_become_metrics() {
        let body = "PATTERNS_APPLIED:\n  - extract\n  - inline\nOTHER:\n  - none\nCOMPLEXITY-SCORE: -2.5\nNote: 1e9\n\
            REFACTORING_COMPLETE: true\nMEMORY_CONTEXT:\n  ADRS_FOUND: 2\nVERDICT: reject\nATTEMPT: 2";
        let expected = found(&[
            ("patterns_applied", Value::Int(2)),
            ("other", Value::Int(0)),
            ("complexity_score", Value::Number(-2.5)),
            ("note", Value::from("1e9")),
            ("refactoring_complete", Value::Bool(true)),
            ("memory_context_adrs_found", Value::Int(2)),
            ("verdict", Value::from("REJECT")),
            ("attempt", Value::Int(2)),
        ]);
        assert_eq!(read("GREEN", &block(body)), expected);
    }

    #[test]
    fn bp_rule_5_metrics_are_laid_over_the_block() {
        let body = "DOCS_GENERATED: 1\nQA_METRICS:\n  CHECKS_TOTAL: 4\n  BLOCKING_ISSUES: 0\nMETRICS:\n  DOCS_GENERATED: 3 # md\n\
            \x20 has_adr: true\n  files: [a, b]\n  list:\n    - x\n    - y\n  name: \"7\"";
        let companion = "GREEN_PHASE_METRICS:\n  consecutive_green_runs: 2\n\n  docs_generated: 4\nText\n";
        let expected = found(&[
            ("checks_total", Value::Int(4)),
            ("blocking_issues", Value::Int(0)),
            ("docs_generated", Value::Int(4)),
            ("has_adr", Value::Bool(true)),
            ("files", Value::Int(2)),
            ("list", Value::Int(2)),
            ("name", Value::from("7")),
            ("consecutive_green_runs", Value::Int(2)),
        ]);
        assert_eq!(read("GREEN", &format!("{companion}{}", block(body))), expected);
        assert_eq!(read("GREEN", &format!("{}\n```yaml\n{companion}```", block(body))), expected);
        let other = read("QA", &format!("{companion}{}", block(body).replace("GREEN", "QA")));
        assert_eq!(other.metrics["docs_generated"], Value::Int(3));
        assert_eq!(other.notes, ["\"GREEN_PHASE_METRICS\" is of another phase and was not read"]);
        assert_eq!(read("GREEN", companion), missing("the message has no status block"));
        let verdict = read("GREEN", &block("VERDICT: REJECT\nMETRICS:\n  verdict: approve"));
        assert_eq!(verdict.metrics["verdict"], Value::from("APPROVE"));
        assert_eq!(verdict.notes, ["VERDICT and the verdict among the metrics differ; the metrics count"]);
    }

    #[test]
    fn bp_rule_5_red_has_generated_the_tests_that_it_has() {
        let text = |more: &str| format!("{OPEN}\nPHASE: RED\nTESTS:\n  TOTAL: 5\n{more}{CLOSE}");
        let generated = |generates: bool, more: &str| {
            super::read("RED", generates, &text(more)).metrics.get("tests_generated").cloned()
        };
        assert_eq!(generated(true, ""), Some(Value::Int(5)));
        assert_eq!(generated(true, "METRICS:\n  tests_generated: 2\n"), Some(Value::Int(2)));
        assert_eq!(generated(false, ""), None);
    }

    #[test]
    fn a_stray_backtick_hides_nothing_inside_a_block() {
        let body = "ERROR: expected `foo'\nEXIT_SIGNAL: true\nRECOMMENDATION: see `bar'";
        assert_eq!(read("GREEN", &block(body)).signal, Some(SignalWord::Exit));
    }
}
