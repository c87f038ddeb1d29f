//! Reads vitest: with the verbose reporter every test has a line with its file and titles; by
//! default only the failures have one, behind `FAIL`, and the rest is a number.

use super::{RunnerResult, SummaryCounts, amount_of, amounts, without_duration};
use crate::proof::results::ids::TestOutcome;
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
            self.summary = read_numbers(numbers).or(self.summary);
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
        let mut session = std::mem::take(&mut self.session);
        let failures = std::mem::take(&mut self.failures);
        if SummaryCounts::of(&session) != counts {
            session = failures.into_iter().map(|it| (it, TestOutcome::Failed)).collect();
        }
        self.tests.extend(session);
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

/// Reads `1 failed | 2 passed | 1 skipped (4)`, and `no tests`.
fn read_numbers(text: &str) -> Option<SummaryCounts> {
    let text = text.trim();
    if text == "no tests" {
        return Some(SummaryCounts::default());
    }
    let (numbers, total) = text.rsplit_once(" (")?;
    let numbers = amounts(numbers, "|")?;
    let counts = SummaryCounts {
        passed: amount_of(&numbers, &["passed"]),
        failed: amount_of(&numbers, &["failed"]),
        skipped: amount_of(&numbers, &["skipped", "todo", "expected fail"]),
    };
    let total: u32 = total.strip_suffix(')')?.parse().ok()?;
    (counts.total() == total).then_some(counts)
}
