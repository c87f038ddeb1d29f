//! Reads pytest: its JUnit file, where it wrote ours and ran once; else its text. Several sessions in
//! one check overwrite each other's file, so then the text counts. The text names every test with
//! `-v` or `-rA`, by default only the failing ones. An expected failure counts as skipped.

use super::{RunnerResult, junit};
use crate::proof::results::environment::{IdFile, PYTEST_FILE};
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::SummaryCounts;
use crate::proof::results::runner_lines::pytest::{PytestBanner, banner, closing, outcome, summary_entry};
use std::collections::BTreeMap;

pub(super) fn read(lines: &[&str], files: &[IdFile]) -> Option<RunnerResult> {
    let mut reader = PytestReader { complete: true, ..PytestReader::default() };
    lines.iter().for_each(|it| reader.line(it));
    reader.close();
    let file = files.iter().find(|it| it.name == PYTEST_FILE).filter(|_| reader.sessions <= 1);
    if let Some(mut found) = file.and_then(|it| junit::read_file(&it.text)) {
        found.complete &= reader.complete;
        return Some(found);
    }
    let PytestReader { tests, counts, complete, build_failed, sessions, .. } = reader;
    (sessions > 0).then_some(RunnerResult { tests, counts, complete, build_failed })
}

#[derive(Default)]
struct PytestReader {
    tests: Vec<(String, TestOutcome)>,
    counts: SummaryCounts,
    sessions: u32,
    complete: bool,
    build_failed: bool,
    /// The width of the banner that opened the session.
    width: Option<usize>,
    section: PytestSection,
    progress: BTreeMap<String, TestOutcome>,
    summary: BTreeMap<String, TestOutcome>,
    closing: Option<(SummaryCounts, u32)>,
}

#[derive(Default, PartialEq)]
enum PytestSection {
    #[default]
    Running,
    /// Failures with what the tests printed.
    Captured,
    ShortSummary,
}

impl PytestReader {
    fn line(&mut self, text: &str) {
        if self.section != PytestSection::Captured && is_stop(text) {
            self.complete = false;
        }
        match banner(text) {
            Some(PytestBanner::SessionStart) => {
                self.close();
                self.width = Some(text.chars().count());
            }
            Some(PytestBanner::Captured) => self.section = PytestSection::Captured,
            Some(PytestBanner::ShortSummary) => {
                self.section = PytestSection::ShortSummary;
                self.summary.clear();
                // What looked like a closing line above was captured from a test.
                self.closing = None;
            }
            Some(PytestBanner::Warnings) => self.section = PytestSection::Running,
            Some(PytestBanner::Other(title)) => {
                let fits = |width| text.chars().count() == width || text.starts_with("= ");
                if self.width.is_none_or(fits) {
                    self.read_closing(title);
                }
            }
            None => self.plain_line(text),
        }
    }

    fn plain_line(&mut self, text: &str) {
        match self.section {
            PytestSection::ShortSummary => {
                if uncollected(text) {
                    (self.build_failed, self.complete) = (true, false);
                } else if let Some((outcome, name)) = summary_entry(text).filter(|(_, it)| it.contains("::"))
                {
                    note(&mut self.summary, name, outcome);
                }
            }
            PytestSection::Running => {
                if let Some((name, outcome)) = progress_line(text) {
                    note(&mut self.progress, name, outcome);
                }
            }
            PytestSection::Captured => {}
        }
        if self.width.is_none() {
            self.read_closing(text);
        }
    }

    fn read_closing(&mut self, text: &str) {
        let Some(counts) = closing(text) else { return };
        self.closing = Some(counts);
        // Without a banner nothing else tells one session from the next.
        if self.width.is_none() && self.section != PytestSection::Captured {
            self.close();
        }
    }

    fn close(&mut self) {
        let (progress, summary) = (std::mem::take(&mut self.progress), std::mem::take(&mut self.summary));
        (self.width, self.section) = (None, PytestSection::Running);
        let Some((counts, errors)) = self.closing.take() else { return };
        self.sessions += 1;
        let mut names = progress;
        summary.into_iter().for_each(|(name, outcome)| note(&mut names, &name, outcome));
        let tests: Vec<(String, TestOutcome)> = names.into_iter().collect();
        // A test whose tear-down fails counts as passed and as an error: the names are right where
        // they account for all numbers but such errors.
        let named = SummaryCounts::of(&tests);
        let twice =
            counts.passed + counts.failed - (named.passed + named.failed).min(counts.passed + counts.failed);
        let agrees =
            named.passed + twice == counts.passed && named.failed == counts.failed && twice <= errors;
        self.tests.extend(tests);
        self.counts = self.counts.plus(if agrees {
            SummaryCounts { skipped: counts.skipped, ..named }
        } else {
            counts
        });
    }
}

/// Keeps the worse of two outcomes: a tear-down may fail after its test passed.
fn note(names: &mut BTreeMap<String, TestOutcome>, name: &str, outcome: TestOutcome) {
    let before = names.entry(name.to_owned()).or_insert(outcome);
    if outcome == TestOutcome::Failed {
        *before = outcome;
    }
}

/// `ERROR tests/test_a.py`, without a test: the file could not be imported.
fn uncollected(text: &str) -> bool {
    text.strip_prefix("ERROR ").is_some_and(|it| !it.split(" - ").next().unwrap_or(it).contains("::"))
}

fn is_stop(text: &str) -> bool {
    text.starts_with("!!!!") && (text.contains("stopping after") || text.contains("Interrupted"))
}

/// Reads `tests/test_calc.py::test_add PASSED [ 10%]`, and xdist's `[gw0] [ 10%] PASSED name`.
fn progress_line(text: &str) -> Option<(&str, TestOutcome)> {
    if text.starts_with("[gw") {
        let (_, rest) = text.split_once("%] ")?;
        let (word, name) = rest.split_once(' ')?;
        return Some((name.trim(), outcome(word)?)).filter(|(name, _)| name.contains("::"));
    }
    let (text, _) = text.rsplit_once(" [").filter(|(_, it)| it.ends_with("%]")).unwrap_or((text, ""));
    let text = text.trim_end();
    let words = [" PASSED", " FAILED", " ERROR", " XFAIL", " XPASS", " SKIPPED"];
    let (at, word) = words.iter().filter_map(|it| Some((text.rfind(it)?, it.trim()))).max()?;
    let (name, after) = (&text[..at], &text[at + 1 + word.len()..]);
    let ended = after.is_empty() || after.starts_with(" (");
    (ended && name.contains(".py::")).then_some(())?;
    Some((name, outcome(word)?))
}
