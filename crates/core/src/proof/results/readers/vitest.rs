//! Reads vitest: with the verbose reporter every test has a line with its file and titles; by
//! default only the failures have one, behind `FAIL`, and the rest is a number.

use super::{RunnerResult, named_or_failed};
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::{SummaryCounts, vitest, without_duration};
use std::collections::BTreeSet;

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = VitestReader::default();
    lines.iter().for_each(|it| reader.line(it));
    reader.close();
    let VitestReader { tests, counts, any, build_failed, .. } = reader;
    any.then_some(RunnerResult { tests, counts, complete: !build_failed, build_failed })
}

#[derive(Default)]
struct VitestReader {
    tests: Vec<(String, TestOutcome)>,
    counts: SummaryCounts,
    any: bool,
    build_failed: bool,
    session: Vec<(String, TestOutcome)>,
    failures: BTreeSet<String>,
    after_files: bool,
    /// The last summary since the session began: what tests print comes before it.
    summary: Option<SummaryCounts>,
}

impl VitestReader {
    fn line(&mut self, text: &str) {
        let line = text.trim();
        if line.starts_with("RUN  v") || line.starts_with("RUN v") {
            self.close();
        } else if line.starts_with("Test Files ") {
            self.after_files = true;
        } else if let (true, Some(numbers)) = (self.after_files, line.strip_prefix("Tests ")) {
            self.summary = vitest::numbers(numbers).or(self.summary);
        } else if line.starts_with("No test files found, exiting with code ") {
            self.summary = Some(SummaryCounts::default());
        } else if let Some(title) = text.strip_prefix(" FAIL ") {
            let title = title.trim();
            match title.contains(" > ") {
                true => drop(self.failures.insert(title.to_owned())),
                false => self.build_failed = true,
            }
        } else if let Some((title, outcome)) = mark(line).filter(|(it, _)| it.contains(" > ")) {
            self.session.push((title.to_owned(), outcome));
        }
    }

    fn close(&mut self) {
        let Some(counts) = self.summary.take() else { return };
        let (session, failures) = (std::mem::take(&mut self.session), std::mem::take(&mut self.failures));
        self.tests.extend(named_or_failed(session, failures, counts));
        self.counts = self.counts.plus(counts);
        (self.any, self.after_files) = (true, false);
    }
}

fn mark(line: &str) -> Option<(&str, TestOutcome)> {
    let (mark, title) = line.split_once(' ')?;
    let outcome = match mark {
        "✓" | "√" => TestOutcome::Passed,
        "×" | "✗" => TestOutcome::Failed,
        "↓" | "□" => TestOutcome::Skipped,
        _ => return None,
    };
    Some((without_duration(title), outcome))
}
