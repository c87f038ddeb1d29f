//! Reads mocha: `N passing`, then `N pending` and `N failing`, then the failures. The line is easily
//! printed by a test too, so it is believed where it agrees with the number of ticks above it, or,
//! for reporters that draw no ticks, where an empty line stands before it. If none can be believed,
//! the last one is offered as unsure.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::runner_lines::mocha::{amount, numbered, passing};

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Mocha {
    sum: Sum,
    first: Option<u64>,
    ticks: u32,
    after_empty_line: bool,
    summary: Option<Summary>,
    unsure: Option<LogFinding>,
}

#[derive(Debug)]
struct Summary {
    tally: LogTally,
    first: u64,
    last: u64,
    sure: bool,
    title: Title,
}

/// Where the title of a failure is read: one level of its path on each line, each two columns
/// further in, the last with a colon.
#[derive(Debug)]
enum Title {
    NotListed,
    Between,
    Inside { path: String, column: usize },
}

const FIRST_COLUMN: usize = 7;

impl Mocha {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if let Some(number) = passing(text) {
            self.close();
            let sure = self.ticks == number || (self.ticks == 0 && self.after_empty_line);
            let tally = LogTally { passing: number, ..LogTally::default() };
            let first = self.first.unwrap_or(at);
            self.summary = Some(Summary { tally, first, last: at, sure, title: Title::NotListed });
            if sure {
                (self.ticks, self.first) = (0, None);
            }
        } else if text.trim_start().starts_with(['✔', '✓', '√']) {
            self.first.get_or_insert(at);
            self.ticks = self.ticks.saturating_add(1);
        } else if let Some(summary) = &mut self.summary {
            summary.line(at, text);
        }
        self.after_empty_line = text.is_empty();
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        if self.sum.is_empty() { self.unsure } else { self.sum.finish() }
    }

    fn close(&mut self) {
        let Some(Summary { tally, first, last, sure, .. }) = self.summary.take() else { return };
        match sure {
            true => self.sum.add(&tally, first, last),
            false => self.unsure = Some(LogFinding { tally, first, last, sure }),
        }
    }
}

impl Summary {
    fn line(&mut self, at: u64, text: &str) {
        let listed = !matches!(self.title, Title::NotListed);
        if let Some(number) = amount(text, "pending") {
            (self.tally.skipped, self.last) = (number, at);
        } else if let Some(number) = amount(text, "failing") {
            (self.tally.failing, self.last) = (number, at);
            (self.title, self.tally.failed) = (Title::Between, FailedNames::default());
        } else if let (true, Some(suite)) = (listed, text.strip_prefix("  ").and_then(numbered)) {
            self.extend_title(String::new(), suite, FIRST_COLUMN - 2);
        } else if let Title::Inside { path, column } = &mut self.title {
            let (path, column) = (std::mem::take(path), *column);
            if column_of(text) == column {
                self.extend_title(path, text.trim(), column);
            } else {
                self.title = Title::Inside { path, column };
            }
        }
    }

    fn extend_title(&mut self, path: String, part: &str, column: usize) {
        let joined = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path} {part}") };
        self.title = match part.strip_suffix(':') {
            Some(part) => {
                self.tally.failed.insert(&joined(part));
                Title::Between
            }
            None => Title::Inside { path: joined(part), column: column + 2 },
        };
    }
}

fn column_of(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}
