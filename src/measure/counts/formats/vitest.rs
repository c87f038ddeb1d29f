//! Reads vitest: the `Tests` line that follows a `Test Files` line, and the ` FAIL ` headings. A
//! suite that failed to run is in none of vitest's numbers of tests and counts as one failing test;
//! so does an unhandled error, which fails the run though every test passed. Of several summaries
//! after one `RUN` line the last counts, because what tests print comes before it.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::runner_lines::{count, vitest};

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Vitest {
    sum: Sum,
    first: Option<u64>,
    broken_suites: u32,
    names: FailedNames,
    after_files: bool,
    summary: Option<(LogTally, u64)>,
}

impl Vitest {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        let trimmed = text.trim();
        if trimmed.starts_with("RUN  v") {
            self.close();
            self.first = Some(at);
        } else if let Some(name) = text.strip_prefix(" FAIL  ") {
            self.names.insert(without_path(name));
        } else if let Some(number) = failed_suites(trimmed) {
            self.broken_suites = number;
        } else if trimmed.starts_with("Test Files  ") {
            self.after_files = true;
        } else if trimmed.starts_with("No test files found, exiting with code ") {
            self.summary = Some((LogTally::default(), at));
        } else if let (true, Some(numbers)) = (self.after_files, trimmed.strip_prefix("Tests  ")) {
            if let Some(mut tally) = vitest::numbers(numbers).map(LogTally::from) {
                tally.failing += self.broken_suites;
                self.summary = Some((tally, at));
            }
        } else if let (Some((tally, last)), Some(number)) = (&mut self.summary, errors(trimmed)) {
            let errors = LogTally { failing: number, ..LogTally::default() };
            tally.add(&errors);
            *last = at;
        }
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        self.sum.finish()
    }

    fn close(&mut self) {
        let names = std::mem::take(&mut self.names);
        if let Some((mut tally, last)) = self.summary.take() {
            if tally.failing > 0 {
                tally.failed = names;
            }
            self.sum.add(&tally, self.first.unwrap_or(last), last);
        }
        *self = Vitest { sum: std::mem::take(&mut self.sum), ..Vitest::default() };
    }
}

/// A broken file is printed with its path: `c.test.js [ c.test.js ]`.
fn without_path(name: &str) -> &str {
    let path = name.strip_suffix(" ]").and_then(|it| it.rsplit_once(" [ "));
    path.map_or(name, |(name, _)| name)
}

fn failed_suites(text: &str) -> Option<u32> {
    count(text.trim_matches(['⎯', ' ']).strip_prefix("Failed Suites ")?)
}

fn errors(text: &str) -> Option<u32> {
    let (number, word) = text.strip_prefix("Errors  ")?.split_once(' ')?;
    word.starts_with("error").then(|| count(number)).flatten()
}
