//! Reads pytest: the closing line (`==== 1 failed, 2 passed in 0.03s ====`, plain with `-q`) and the
//! names of its short test summary. Where the session opened with its banner, the closing line is
//! as wide as that banner, and the last one counts: captured output of failing tests, which may
//! look the same, comes before. Errors count as failing, also those of collecting; an expected
//! failure counts as skipped, an unexpected pass as passing; deselected tests do not count.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::TestOutcome;
use loop_core::proof::runner_lines::pytest::{PytestBanner, banner, closing, summary_entry};

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
            Some(PytestBanner::SessionStart) => {
                self.close();
                self.width = Some(text.chars().count());
                self.first = Some(at);
            }
            Some(PytestBanner::Captured) => {
                self.first.get_or_insert(at);
                self.section = SummarySection::Captured;
            }
            Some(PytestBanner::ShortSummary) => {
                self.first.get_or_insert(at);
                self.section = SummarySection::ShortSummary;
                self.names.clear();
                // What looked like a closing line above was captured from a test.
                self.closing = None;
            }
            Some(PytestBanner::Warnings) => self.section = SummarySection::Running,
            Some(PytestBanner::Other(title)) => {
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
        let Some((counts, _)) = closing(text) else { return };
        self.first.get_or_insert(at);
        self.closing = Some((counts.into(), at));
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

/// Returns what a failing line of the short summary is about.
fn failing_test(text: &str) -> Option<&str> {
    summary_entry(text).filter(|(outcome, _)| *outcome == TestOutcome::Failed).map(|it| it.1)
}
