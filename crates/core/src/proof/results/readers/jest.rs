//! Reads jest. With `--verbose`, or with a single test file, every test has a line below its file;
//! otherwise the failures are named by their `●` headings and the rest is a number.

use super::{RunnerResult, indentation, named_or_failed};
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::jest::{self, JestHeading};
use crate::proof::results::runner_lines::{SummaryCounts, without_duration};
use std::collections::BTreeSet;

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = JestReader::default();
    lines.iter().for_each(|it| reader.line(it));
    let JestReader { tests, counts, any, build_failed, .. } = reader;
    any.then_some(RunnerResult { tests, counts, complete: !build_failed, build_failed })
}

#[derive(Default)]
struct JestReader {
    tests: Vec<(String, TestOutcome)>,
    counts: SummaryCounts,
    any: bool,
    build_failed: bool,
    file: Option<String>,
    open: Vec<(usize, String)>,
    session: Vec<(String, TestOutcome)>,
    failures: BTreeSet<String>,
    after_suites: bool,
}

impl JestReader {
    fn line(&mut self, text: &str) {
        if let Some((file, _)) = jest::file(text) {
            self.file = Some(file.to_owned());
            self.open.clear();
        } else if let Some(title) = text.strip_prefix("  ● ") {
            self.heading(title);
        } else if text.starts_with("Test Suites: ") {
            self.after_suites = true;
            self.file = None;
        } else if text.starts_with("No tests found, exiting with code ") {
            self.close(SummaryCounts::default());
        } else if let (true, Some(numbers)) = (self.after_suites, text.strip_prefix("Tests: ")) {
            if let Some(counts) = jest::numbers(numbers) {
                self.close(counts);
            }
        } else if let Some(file) = &self.file {
            let depth = indentation(text);
            let line = &text[depth..];
            if depth < 2 || line.is_empty() {
                return;
            }
            self.open.retain(|(it, _)| *it < depth);
            match mark(line) {
                Some((title, outcome)) => {
                    let titles = self.open.iter().map(|(_, it)| it.as_str()).chain([title]);
                    let path: Vec<&str> = std::iter::once(file.as_str()).chain(titles).collect();
                    self.session.push((path.join(" > "), outcome));
                }
                None => self.open.push((depth, line.to_owned())),
            }
        }
    }

    fn heading(&mut self, title: &str) {
        let Some(file) = &self.file else { return };
        match jest::heading(title) {
            JestHeading::BrokenFile => self.build_failed = true,
            JestHeading::FailedTest => {
                self.failures.insert(format!("{file} > {}", title.replace(" › ", " > ")));
            }
            JestHeading::Output => (),
        }
    }

    fn close(&mut self, counts: SummaryCounts) {
        let (session, failures) = (std::mem::take(&mut self.session), std::mem::take(&mut self.failures));
        self.tests.extend(named_or_failed(session, failures, counts));
        self.counts = self.counts.plus(counts);
        self.any = true;
        (self.after_suites, self.file) = (false, None);
        self.open.clear();
    }
}

fn mark(line: &str) -> Option<(&str, TestOutcome)> {
    let (mark, title) = line.split_once(' ')?;
    let (title, outcome) = match mark {
        "✓" | "√" => (title, TestOutcome::Passed),
        "✕" | "×" => (title, TestOutcome::Failed),
        "○" => (title.strip_prefix("skipped ").unwrap_or(title), TestOutcome::Skipped),
        "✎" => (title.strip_prefix("todo ").unwrap_or(title), TestOutcome::Skipped),
        _ => return None,
    };
    Some((without_duration(title), outcome))
}
