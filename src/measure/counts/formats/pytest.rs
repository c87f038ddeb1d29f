//! Reads pytest: the closing line (`==== 1 failed, 2 passed in 0.03s ====`, plain with `-q`) and the
//! names of its short test summary. Where the session opened with its banner, the closing line is
//! as wide as that banner, and the last one counts: captured output of failing tests, which may
//! look the same, comes before. Errors count as failing, also those of collecting; an expected
//! failure counts as skipped, an unexpected pass as passing; deselected tests do not count.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum, amount_of, amounts};

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Pytest {
    sum: Sum,
    /// The width of the banner that opened the session.
    width: Option<usize>,
    first: Option<u64>,
    section: SummarySection,
    names: FailedNames,
    closing: Option<(LogTally, u64)>,
}

#[derive(Debug, Default, PartialEq)]
enum SummarySection {
    #[default]
    Running,
    /// Failures with what the tests printed.
    Captured,
    ShortSummary,
}

impl Pytest {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        match banner(text) {
            Some("test session starts") => {
                self.close();
                self.width = Some(text.chars().count());
                self.first = Some(at);
            }
            Some("ERRORS" | "FAILURES" | "PASSES" | "XFAILURES" | "XPASSES") => {
                self.first.get_or_insert(at);
                self.section = SummarySection::Captured;
            }
            Some("short test summary info") => {
                self.first.get_or_insert(at);
                self.section = SummarySection::ShortSummary;
                self.names.clear();
                // What looked like a closing line above was captured from a test.
                self.closing = None;
            }
            Some("warnings summary") => self.section = SummarySection::Running,
            Some(title) => {
                let fits = |width| text.chars().count() == width || text.starts_with("= ");
                if self.width.is_none_or(fits) {
                    self.read_closing(at, title);
                }
            }
            None if self.section == SummarySection::ShortSummary && failing_test(text).is_some() => {
                self.names.insert(failing_test(text).unwrap_or_default());
            }
            None if self.width.is_none() => self.read_closing(at, text),
            None => {}
        }
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        self.sum.finish()
    }

    fn read_closing(&mut self, at: u64, text: &str) {
        let Some(tally) = read_closing(text) else { return };
        self.first.get_or_insert(at);
        self.closing = Some((tally, at));
        // Without a banner nothing else tells one session from the next.
        if self.width.is_none() && self.section != SummarySection::Captured {
            self.close();
        }
    }

    fn close(&mut self) {
        let names = std::mem::take(&mut self.names);
        if let (Some((mut tally, last)), Some(first)) = (self.closing.take(), self.first.take()) {
            if tally.failing > 0 {
                tally.failed = names;
            }
            self.sum.add(&tally, first, last);
        }
        self.first = None;
        self.width = None;
        self.section = SummarySection::Running;
    }
}

fn banner(text: &str) -> Option<&str> {
    let title = text.strip_prefix('=')?.strip_suffix('=')?.trim_matches('=');
    title.strip_prefix(' ')?.strip_suffix(' ')
}

fn read_closing(text: &str) -> Option<LogTally> {
    let (outcomes, time) = text.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    if outcomes == "no tests ran" {
        return Some(LogTally::default());
    }
    let outcomes = amounts(outcomes, ",")?;
    let known = ["passed", "failed", "error", "errors", "skipped", "xfailed", "xpassed", "deselected"];
    if !outcomes.iter().any(|(_, word)| known.contains(word)) {
        return None;
    }
    Some(LogTally {
        passing: amount_of(&outcomes, &["passed", "xpassed"]),
        failing: amount_of(&outcomes, &["failed", "error", "errors"]),
        skipped: amount_of(&outcomes, &["skipped", "xfailed"]),
        failed: FailedNames::default(),
    })
}

/// Returns the test of `FAILED tests/test_a.py::test_b[x - y] - assert 1 == 2`. Parameters may hold
/// the separator, so those in brackets are read to their end first.
fn failing_test(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(' ')?;
    let rest = match word {
        "FAILED" | "ERROR" => rest,
        // The parameters of a subtest may hold spaces: `SUBFAILED(i=1, j=2) test_a.py::test_b`.
        _ if word.starts_with("SUBFAILED") => text.split_once([')', ']'])?.1.trim_start(),
        _ => return None,
    };
    let separator = rest.find(" - ").unwrap_or(rest.len());
    let bracket = rest.find('[').filter(|it| *it < separator);
    let end = match bracket {
        Some(open) => rest[open..].find("] - ").map_or(rest.len(), |it| open + it + 1),
        None => separator,
    };
    Some(&rest[..end])
}
