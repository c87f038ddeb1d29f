//! Reads JUnit XML: the cases are the tests, the totals in the attributes are not believed, because
//! they differ from tool to tool. Where a case names its file, the id has pytest's form,
//! `file::Class::test`; else it is `class.test`.

use super::RunnerResult;
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::SummaryCounts;
use crate::proof::results::runner_lines::junit::attribute;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Reads a report that was written to a file. A report that is cut short is not complete.
pub(super) fn read_file(text: &str) -> Option<RunnerResult> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut found = RunnerResult { complete: true, ..RunnerResult::default() };
    let mut case: Option<JunitCase> = None;
    let (mut depth, mut any) = (0_u32, false);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => match tag.local_name().as_ref() {
                b"testsuite" | b"testsuites" => (depth, any) = (depth + 1, true),
                b"testcase" => case = Some(JunitCase::read(&tag)),
                name => note(&mut case, name, &tag),
            },
            Ok(Event::Empty(tag)) => match tag.local_name().as_ref() {
                b"testsuite" | b"testsuites" => any = true,
                b"testcase" => found.push(JunitCase::read(&tag)),
                name => note(&mut case, name, &tag),
            },
            Ok(Event::End(tag)) => match tag.local_name().as_ref() {
                b"testsuite" | b"testsuites" => depth = depth.saturating_sub(1),
                b"testcase" => {
                    if let Some(case) = case.take() {
                        found.push(case);
                    }
                }
                _ => {}
            },
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                found.complete = false;
                break;
            }
        }
    }
    found.counts = SummaryCounts::of(&found.tests);
    found.complete &= depth == 0 && case.is_none();
    any.then_some(found)
}

/// Reads reports that a check printed.
pub(super) fn read_printed(lines: &[&str]) -> Option<RunnerResult> {
    let starts = |it: &str| it.contains("<testsuites") || it.contains("<testsuite ");
    let first = lines.iter().position(|it| starts(it))?;
    let last = lines.iter().rposition(|it| it.contains("</testsuite") || it.contains("<testsuite"))?;
    let text = lines[first..=last.max(first)].join("\n");
    let begin = text.find("<testsuite")?;
    let end = text.rfind("</testsuite").and_then(|at| text[at..].find('>').map(|it| at + it + 1));
    read_file(&text[begin..end.unwrap_or(text.len()).max(begin)])
}

struct JunitCase {
    name: String,
    outcome: TestOutcome,
    /// Pytest reports a file that does not import as a case.
    not_collected: bool,
    has_class: bool,
    has_file: bool,
}

impl JunitCase {
    fn read(tag: &BytesStart<'_>) -> JunitCase {
        let name = attribute(tag, "name").unwrap_or_default();
        let class = attribute(tag, "classname").unwrap_or_default();
        let file = attribute(tag, "file").unwrap_or_default();
        let has_class = !class.is_empty();
        let name = match (file.is_empty(), has_class) {
            (_, false) => name,
            (true, true) => format!("{class}.{name}"),
            (false, true) => format!("{file}::{}{name}", class_in(&file, &class)),
        };
        JunitCase {
            name,
            outcome: TestOutcome::Passed,
            not_collected: false,
            has_class,
            has_file: !file.is_empty(),
        }
    }
}

impl RunnerResult {
    fn push(&mut self, case: JunitCase) {
        if case.not_collected {
            (self.build_failed, self.complete) = (true, false);
            return;
        }
        // Pytest writes a second case for an error in a test's tear-down.
        if case.has_file
            && let Some((name, outcome)) = self.tests.last_mut()
            && *name == case.name
        {
            if case.outcome == TestOutcome::Failed {
                *outcome = TestOutcome::Failed;
            }
            return;
        }
        self.tests.push((case.name, case.outcome));
    }
}

/// Takes the module off a class name: `tests.test_calc.TestCalc` in `tests/test_calc.py` is
/// `TestCalc::`.
fn class_in(file: &str, class: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let module = stem.replace(['/', '\\'], ".");
    match class.strip_prefix(&module) {
        Some("") => String::new(),
        Some(rest) => format!("{}::", rest.trim_start_matches('.').replace('.', "::")),
        None => format!("{class}::"),
    }
}

fn note(case: &mut Option<JunitCase>, element: &[u8], tag: &BytesStart<'_>) {
    let Some(case) = case else { return };
    match element {
        b"failure" if case.outcome != TestOutcome::Skipped => case.outcome = TestOutcome::Failed,
        b"error" => {
            let collection = attribute(tag, "message").is_some_and(|it| it == "collection failure");
            case.not_collected |= collection && !case.has_class;
            case.outcome = TestOutcome::Failed;
        }
        // Node reports a failing TODO as both; it does not make the run fail.
        b"skipped" => case.outcome = TestOutcome::Skipped,
        _ => {}
    }
}
