//! Reads mocha's spec reporter: ticks, numbered failures and dashes below the titles of their
//! suites, up to `N passing`, and the failures listed behind it. Reporters without ticks (dot) give
//! the failures only.

use super::{RunnerResult, indentation, named_or_failed};
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::mocha::{amount, numbered, passing};
use crate::proof::results::runner_lines::{SummaryCounts, without_duration};

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = MochaReader::default();
    lines.iter().for_each(|it| reader.line(it));
    reader.close();
    let complete = reader.any;
    let MochaReader { tests, counts, .. } = reader;
    complete.then_some(RunnerResult { tests, counts, complete, build_failed: false })
}

#[derive(Default)]
struct MochaReader {
    tests: Vec<(String, TestOutcome)>,
    counts: SummaryCounts,
    any: bool,
    session: Vec<(String, TestOutcome)>,
    open: Vec<(usize, String)>,
    summary: Option<SummaryCounts>,
    failures: Vec<String>,
    /// The title of a failure in the list, which stands on one line for each suite.
    title: Option<(String, usize)>,
    listing_failures: bool,
    after_empty_line: bool,
}

impl MochaReader {
    fn line(&mut self, text: &str) {
        let depth = indentation(text);
        let line = &text[depth..];
        if let Some(passed) = passing(text).filter(|it| self.believes(*it)) {
            self.close();
            self.summary = Some(SummaryCounts { passed, ..SummaryCounts::default() });
        } else if let Some(summary) = &mut self.summary {
            if let Some(number) = amount(text, "pending") {
                summary.skipped = number;
            } else if let Some(number) = amount(text, "failing") {
                summary.failed = number;
                self.listing_failures = true;
            } else if mark(line).is_some() && !self.listing_failures {
                self.close();
                self.test_line(depth, line);
            } else if self.listing_failures {
                self.failure(depth, line);
            } else if depth == 2 && !line.is_empty() {
                self.close();
                self.test_line(depth, line);
            }
        } else if passing(text).is_none() {
            self.test_line(depth, line);
        }
        self.after_empty_line = text.is_empty();
    }

    /// A test may print such a line too: it is the summary where it agrees with the ticks above it,
    /// or, for reporters without ticks, where an empty line stands before it.
    fn believes(&self, passing: u32) -> bool {
        let ticks = self.session.iter().filter(|(_, it)| *it == TestOutcome::Passed).count();
        ticks == passing as usize && (ticks > 0 || self.after_empty_line)
            || ticks == 0 && self.after_empty_line
    }

    fn test_line(&mut self, depth: usize, line: &str) {
        if line.is_empty() || depth < 2 {
            return;
        }
        self.open.retain(|(it, _)| *it < depth);
        match mark(line) {
            Some((title, outcome)) => {
                let path: Vec<&str> = self.open.iter().map(|(_, it)| it.as_str()).chain([title]).collect();
                self.session.push((path.join(" > "), outcome));
            }
            None => self.open.push((depth, line.to_owned())),
        }
    }

    /// Reads `  1) math` and the lines below it, up to the one that ends with a colon.
    fn failure(&mut self, depth: usize, line: &str) {
        let (title, depth) = match (numbered(line), &self.title) {
            (Some(suite), _) if depth == 2 => (suite.to_owned(), 5),
            (_, Some((path, column))) if depth == *column + 2 => (format!("{path} > {line}"), depth),
            (_, _) => return,
        };
        self.title = match title.strip_suffix(':') {
            Some(whole) => {
                self.failures.push(whole.to_owned());
                None
            }
            None => Some((title, depth)),
        };
    }

    fn close(&mut self) {
        let Some(summary) = self.summary.take() else { return };
        let (session, failures) = (std::mem::take(&mut self.session), std::mem::take(&mut self.failures));
        self.any = true;
        self.counts = self.counts.plus(summary);
        self.tests.extend(named_or_failed(session, failures, summary));
        (self.listing_failures, self.title) = (false, None);
        self.open.clear();
    }
}

fn mark(line: &str) -> Option<(&str, TestOutcome)> {
    if let Some(title) = numbered(line) {
        return Some((title, TestOutcome::Failed));
    }
    let (mark, title) = line.split_once(' ')?;
    let outcome = match mark {
        "✔" | "✓" | "√" => TestOutcome::Passed,
        "-" => TestOutcome::Skipped,
        _ => return None,
    };
    Some((without_duration(title), outcome))
}
