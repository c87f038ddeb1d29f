//! Reads jest: the `Tests:` line that follows a `Test Suites:` line at the start of a line (what
//! tests print is indented), and the titles under each failing file. A file that failed to run is
//! in none of jest's numbers of tests and counts as one failing test, named by its path.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::runner_lines::jest::{self, JestHeading};
use std::collections::BTreeSet;

/// More different files that failed to run are not counted: the path of each is kept, because jest
/// repeats them in its closing summary.
const BROKEN_FILES_LIMIT: usize = 10_000;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Jest {
    sum: Sum,
    first: Option<u64>,
    failing_file: Option<String>,
    broken_files: BTreeSet<String>,
    names: FailedNames,
    after_suites: bool,
}

impl Jest {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if let Some((path, is_failed)) = jest::file(text) {
            self.first.get_or_insert(at);
            self.failing_file = is_failed.then(|| path.to_owned());
        } else if let Some(title) = text.strip_prefix("  ● ") {
            self.read_title(title);
        } else if text.starts_with("Test Suites: ") {
            self.first.get_or_insert(at);
            self.after_suites = true;
        } else if text.starts_with("No tests found, exiting with code ") {
            self.close(at, LogTally::default());
        } else if let (true, Some(numbers)) = (self.after_suites, text.strip_prefix("Tests: "))
            && let Some(counts) = jest::numbers(numbers)
        {
            self.close(at, counts.into());
        }
    }

    pub(in crate::measure::counts) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }

    fn read_title(&mut self, title: &str) {
        let Some(file) = &self.failing_file else { return };
        match jest::heading(title) {
            JestHeading::BrokenFile => {
                if self.broken_files.len() < BROKEN_FILES_LIMIT {
                    self.broken_files.insert(file.clone());
                }
                self.names.insert(file);
            }
            JestHeading::FailedTest => self.names.insert(&format!("{file} › {title}")),
            JestHeading::Output => (),
        }
    }

    fn close(&mut self, at: u64, mut tally: LogTally) {
        tally.failing += self.broken_files.len() as u32;
        if tally.failing > 0 {
            tally.failed = std::mem::take(&mut self.names);
        }
        self.sum.add(&tally, self.first.unwrap_or(at), at);
        *self = Jest { sum: std::mem::take(&mut self.sum), ..Jest::default() };
    }
}
