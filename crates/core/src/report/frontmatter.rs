//! The `frontmatter` protocol: the head of a file that the workflow names, between two `---` lines.
//! Its `status` is the verdict; every other key is a metric, a list or a map as its length. The file
//! is read as a file and not as a message: nothing but its first lines counts. It never gives a
//! signal, because the verdict is one half of an exit rule and the file has no other half.

use super::simple_yaml::{self, Entry, scalar};
use super::text_limits::{is_placeholder, quote};
use super::{Report, VERDICT};
use crate::documents::planning::verification::{self, VerificationStatus};
use loop_base::value::Value;

pub(super) fn read(text: &str) -> Report {
    let mut report = Report::default();
    let Some(head) = head(text, &mut report) else { return report };
    let outline = simple_yaml::read(head.lines());
    if let Some(row) = outline.unreadable {
        report.note(&format!("the front matter has a line that is not a key: {}", quote(row)));
    }
    if outline.is_cut {
        report.note("the front matter is too long; its end was not read");
    }
    for entry in &outline.entries {
        let Some(value) = value_of(entry) else { continue };
        match (entry.key, value) {
            ("status", Value::Text(text)) if is_placeholder(&text) => {
                report.note(&format!("status {} was not filled in", quote(&text)));
            }
            ("status", Value::Text(text)) => {
                let value = Value::from(verdict(&text));
                if report.found && report.metrics.get(VERDICT) != Some(&value) {
                    report.note("the front matter has different status lines; the last one counts");
                }
                report.found = true;
                report.keep(VERDICT, value);
            }
            ("status", Value::Bool(_) | Value::Int(_) | Value::Number(_)) => {
                report.note("status is not a word")
            }
            // Only `status` gives the verdict: a second key of that name would be a second opinion.
            (VERDICT, _) => report.note("verdict was ignored: the front matter's verdict is its status"),
            (key, value) => report.keep(key, value),
        }
    }
    // A head that is not sound in all its parts may have a status all the same.
    if let Ok(found) = verification::read(text) {
        report.blockers = found.gaps;
        report.for_person = found.for_person;
        report.truths = found.truths;
    }
    settle_contradictions(&mut report);
    if says(&report, VerificationStatus::HumanNeeded) && report.for_person.is_empty() {
        report.for_person.push("the verifier asks for a person and does not say what for".to_owned());
    }
    if !report.found {
        report.metrics.clear();
        report.note("the front matter has no status");
    }
    report
}

/// A verdict of a verifier counts however it is capitalised; other words are a workflow's own.
fn verdict(status: &str) -> &str {
    match VerificationStatus::named(&status.to_ascii_lowercase()) {
        Some(known) => known.word(),
        None => status,
    }
}

fn says(report: &Report, status: VerificationStatus) -> bool {
    report.metrics.get(VERDICT) == Some(&Value::from(status.word()))
}

/// A file that calls the whole passed, and a part of it failed or left to a person, is taken at its parts.
fn settle_contradictions(report: &mut Report) {
    if !says(report, VerificationStatus::Passed) {
        return;
    }
    let failed = report.truths.iter().filter(|it| !it.holds).count();
    let (verdict, why) = match (failed, report.blockers.len(), report.for_person.len()) {
        (1.., _, _) => (VerificationStatus::GapsFound, "truths that do not hold"),
        (0, 1.., _) => (VerificationStatus::GapsFound, "gaps"),
        (0, 0, 1..) => (VerificationStatus::HumanNeeded, "something for a person to verify"),
        (0, 0, 0) => return,
    };
    report.keep(VERDICT, Value::from(verdict.word()));
    report.note(&format!("its status is passed, and it lists {why}: taken as {}", verdict.word()));
}

/// Returns what stands between the first line and the next `---`.
fn head<'a>(text: &'a str, report: &mut Report) -> Option<&'a str> {
    let is_rule = |line: &str| line.trim_end() == "---";
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if !is_rule(first) {
        report.note("the file does not begin with front matter (a line of three dashes)");
        return None;
    }
    let mut end = first.len();
    for line in text[first.len()..].split_inclusive('\n') {
        if is_rule(line) || line.trim_end() == "..." {
            return Some(&text[first.len()..end]);
        }
        end += line.len();
    }
    report.note("the front matter is not closed by a line of three dashes");
    None
}

fn value_of(entry: &Entry<'_>) -> Option<Value> {
    let is_folded = matches!(entry.value, "|" | "|-" | "|+" | ">" | ">-" | ">+");
    match (entry.is_section(), is_folded) {
        (true, _) if entry.len() == 0 => None,
        (true, _) => Some(Value::from(entry.len())),
        // Of a folded text the first line is kept; nothing that is compared is longer.
        (false, true) => entry.first_line.map(Value::from),
        (false, false) => scalar(entry.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "---\nphase: 03-auth\nverified: 2026-01-02T03:04:05Z\nstatus: gaps_found # two\n\
        score: 5/7 must-haves verified\nre_verification:\n  previous_status: gaps_found\n  gaps_closed:\n    - \"a\"\n\
        \x20 regressions: []\ngaps:\n  - truth: \"User can log in: always\"\n    status: failed\n    missing:\n      - x\n\
        \x20     - y\n  - truth: 'other'\n    status: partial\nhuman_verification:\n- test: click\n  expected: it works\n\
        notes: ~\n---\n\n# Report\n\nstatus: passed\n";

    fn report_of(pairs: &[(&str, Value)]) -> Report {
        let metrics = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Report { found: true, metrics, ..Report::default() }
    }

    #[test]
    fn lp_what_is_called_passed_and_is_not_in_its_parts_has_not_passed() {
        let verdict = |more: &str| {
            let text = format!("---\nverified: 2026-01-02T03:04:05Z\nstatus: passed\n{more}---\n");
            let report = read(&text);
            (report.metrics.get("verdict").cloned(), report.notes.len())
        };
        assert_eq!(verdict(""), (Some(Value::from("passed")), 0));
        assert_eq!(
            verdict("gaps:\n  - truth: \"it logs in\"\n    status: failed\n"),
            (Some(Value::from("gaps_found")), 1)
        );
        assert_eq!(
            verdict("human_verification:\n  - test: click\n    expected: it works\n"),
            (Some(Value::from("human_needed")), 1)
        );
    }

    #[test]
    fn lp_a_verification_file_is_read() {
        let mut expected = report_of(&[
            ("phase", Value::from("03-auth")),
            ("verified", Value::from("2026-01-02T03:04:05Z")),
            ("verdict", Value::from("gaps_found")),
            ("score", Value::from("5/7 must-haves verified")),
            ("re_verification", Value::Int(3)),
            ("gaps", Value::Int(2)),
            ("human_verification", Value::Int(1)),
        ]);
        expected.blockers = vec!["User can log in: always".to_owned(), "other".to_owned()];
        expected.for_person = vec!["click; expected: it works".to_owned()];
        assert_eq!(read(FILE), expected);
        assert_eq!(read(&FILE.replace('\n', "\r\n")), expected);
    }

    #[test]
    fn lp_the_status_may_be_quoted_or_folded() {
        for status in ["passed", "PASSED", "\"passed\"", "'passed'", "passed   # ok", ">-\n  passed"] {
            let report = read(&format!("---\nstatus: {status}\nscore: \"7\"\n---\n"));
            let expected = report_of(&[("verdict", Value::from("passed")), ("score", Value::from("7"))]);
            assert_eq!(report, expected, "{status}");
        }
    }

    #[test]
    fn lp_25_a_file_without_a_usable_status_is_no_report() {
        let no_status = "the front matter has no status";
        let cases: [(&str, &[&str]); 8] = [
            ("", &["the file does not begin with front matter (a line of three dashes)"]),
            (
                "\n---\nstatus: passed\n---",
                &["the file does not begin with front matter (a line of three dashes)"],
            ),
            ("---\nstatus: passed\n", &["the front matter is not closed by a line of three dashes"]),
            ("---\nscore: 1/1\n---", &[no_status]),
            ("---\nstatus:\n  - passed\n---", &["status is not a word", no_status]),
            (
                "---\nstatus: passed | gaps_found\n---",
                &["status \"passed | gaps_found\" was not filled in", no_status],
            ),
            (
                "---\nverdict: passed\n---",
                &["verdict was ignored: the front matter's verdict is its status", no_status],
            ),
            ("---\ngaps:\n  status: passed\n---", &[no_status]),
        ];
        for (text, notes) in cases {
            let notes = notes.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(read(text), Report { notes, ..Report::default() }, "{text:?}");
        }
    }

    #[test]
    fn two_different_statuses_are_noted() {
        let report = read("---\nstatus: passed\nstatus: gaps_found\n---");
        assert_eq!(report.metrics["verdict"], Value::from("gaps_found"));
        assert_eq!(report.notes, ["the front matter has different status lines; the last one counts"]);
    }
}
