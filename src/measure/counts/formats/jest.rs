//! Reads jest: the `Tests:` line that follows a `Test Suites:` line at the start of a line (what
//! tests print is indented), and the titles under each failing file. A file that failed to run is
//! in none of jest's numbers of tests and counts as one failing test, named by its path.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum, amount_of, amounts};
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
        if let Some((word, path)) = file_line(text) {
            self.first.get_or_insert(at);
            self.failing_file = (word == "FAIL").then(|| path.to_owned());
        } else if let Some(title) = text.strip_prefix("  ● ") {
            self.read_title(title);
        } else if text.starts_with("Test Suites: ") {
            self.first.get_or_insert(at);
            self.after_suites = true;
        } else if text.starts_with("No tests found, exiting with code ") {
            self.close(at, LogTally::default());
        } else if let (true, Some(numbers)) = (self.after_suites, text.strip_prefix("Tests: "))
            && let Some(tally) = read_numbers(numbers)
        {
            self.close(at, tally);
        }
    }

    pub(in crate::measure::counts) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }

    fn read_title(&mut self, title: &str) {
        let Some(file) = &self.failing_file else { return };
        if title == "Test suite failed to run" {
            if self.broken_files.len() < BROKEN_FILES_LIMIT {
                self.broken_files.insert(file.clone());
            }
            self.names.insert(file);
        } else if title != "Console" && !title.starts_with("process.exit called with") {
            self.names.insert(&format!("{file} › {title}"));
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

/// Reads `FAIL src/a.test.js (5.2 s)`; with colours there is a space in front.
fn file_line(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let (word, path) = text.split_once(' ')?;
    let path = path.trim();
    let timed = path.ends_with(" s)") || path.ends_with(" ms)");
    let path = if timed { path.rsplit_once(" (").map_or(path, |(path, _)| path) } else { path };
    matches!(word, "PASS" | "FAIL").then_some((word, path))
}

fn read_numbers(text: &str) -> Option<LogTally> {
    let numbers = amounts(text, ",")?;
    let tally = LogTally {
        passing: amount_of(&numbers, &["passed"]),
        failing: amount_of(&numbers, &["failed"]),
        skipped: amount_of(&numbers, &["skipped", "todo", "pending"]),
        failed: FailedNames::default(),
    };
    (tally.total() == amount_of(&numbers, &["total"])).then_some(tally)
}
