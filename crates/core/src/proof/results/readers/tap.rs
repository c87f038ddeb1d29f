//! Reads TAP: node's test runner by default, bats, prove. An id is the path of titles, built from the
//! `# Subtest:` lines and the indentation; the line of a suite stands behind its tests and is left
//! out. Node reports a file without tests as a passing test named by its path, and one that does not
//! load as a failing one: neither is a test. TODO counts as skipped.

use super::{RunnerResult, indentation};
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::{SummaryCounts, tap};

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = TapReader::default();
    lines.iter().for_each(|it| reader.line(it));
    reader.finish()
}

#[derive(Default)]
struct TapReader {
    tests: Vec<(String, TestOutcome)>,
    /// Titles of the subtests that are open, with their indentation.
    open: Vec<(usize, String)>,
    /// The index of the last test line, which a `type: 'suite'` in its details takes back.
    last: Option<usize>,
    /// Lines at the outermost level since the last plan, and what plans announced.
    seen: u32,
    planned: Option<u32>,
    planned_ahead: Option<u32>,
    broken_plan: bool,
    build_failed: bool,
    bailed: bool,
    in_details: bool,
}

impl TapReader {
    fn line(&mut self, text: &str) {
        let depth = indentation(text);
        let line = &text[depth..];
        if self.in_details {
            self.in_details = line != "...";
            if line == "type: 'suite'"
                && let Some(last) = self.last.take()
            {
                self.tests.remove(last);
            }
        } else if line == "---" && self.last.is_some() {
            self.in_details = true;
        } else if let Some(title) = tap::subtest(line) {
            self.open.retain(|(it, _)| *it < depth);
            self.open.push((depth, title.to_owned()));
        } else if line.starts_with("Bail out!") {
            self.bailed = true;
        } else if let (0, Some(number)) = (depth, tap::plan(line)) {
            self.plan(number);
        } else if let Some(point) = tap::point(line) {
            match point.opens {
                true => self.suite(depth, point.title),
                false if point.title.is_empty() => self.test(depth, &point.number.to_string(), point.outcome),
                false => self.test(depth, point.title, point.outcome),
            }
        }
    }

    fn suite(&mut self, depth: usize, title: &str) {
        self.last = None;
        self.seen += u32::from(depth == 0);
        self.open.retain(|(it, _)| *it < depth);
        self.open.push((depth, title.to_owned()));
    }

    fn test(&mut self, depth: usize, title: &str, outcome: TestOutcome) {
        self.last = None;
        if depth == 0 {
            self.seen += 1;
        } else if self.open.is_empty() {
            // Without a subtest around it, an indented line was printed by a test.
            return;
        }
        self.open.retain(|(it, _)| *it < depth);
        if is_file(title) {
            self.build_failed |= outcome == TestOutcome::Failed;
            return;
        }
        let mut name = String::new();
        for (_, title) in &self.open {
            name.push_str(title);
            name.push_str(" > ");
        }
        name.push_str(title);
        self.last = Some(self.tests.len());
        self.tests.push((name, outcome));
    }

    fn plan(&mut self, number: u32) {
        self.planned = Some(self.planned.unwrap_or(0) + number);
        if self.seen == 0 || self.planned_ahead.is_some() {
            self.settle_ahead();
            self.planned_ahead = Some(number);
        } else {
            self.broken_plan |= self.seen != number;
            self.seen = 0;
        }
    }

    /// A plan that stood before its tests is compared when the next one begins, or at the end.
    fn settle_ahead(&mut self) {
        if let Some(ahead) = self.planned_ahead.take() {
            self.broken_plan |= self.seen != ahead;
            self.seen = 0;
        }
    }

    fn finish(mut self) -> Option<RunnerResult> {
        self.planned?;
        if self.planned_ahead.is_some() {
            self.settle_ahead();
        }
        let complete = !self.bailed && !self.broken_plan && !self.build_failed;
        let counts = SummaryCounts::of(&self.tests);
        Some(RunnerResult { tests: self.tests, counts, complete, build_failed: self.build_failed })
    }
}

/// Node names a whole file by its absolute path.
fn is_file(title: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"];
    title.starts_with('/') && ends.iter().any(|it| title.ends_with(it))
}
