//! Reads `cargo nextest run`: one line for each test, then the `Summary` line. Skipped tests are
//! counted and not named by default.

use super::RunnerResult;
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::{SummaryCounts, nextest};
use std::collections::BTreeMap;

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut tests: BTreeMap<String, TestOutcome> = BTreeMap::new();
    let mut summary = None;
    let mut build_failed = false;
    for text in lines {
        if let Some((name, outcome)) = nextest::test(text) {
            if let Some((binary, test)) = name.split_once(' ') {
                // Retried tests have a line for each try; the last one counts.
                tests.insert(format!("{binary}::{}", test.trim()), outcome);
            }
        } else if let Some(found) = nextest::summary(text) {
            summary = Some(found);
        }
        build_failed |= text.starts_with("error: could not compile");
    }
    let summary = summary?;
    let counts = SummaryCounts {
        passed: summary.passed,
        failed: summary.ran - summary.passed,
        skipped: summary.skipped,
    };
    let complete = summary.ran == summary.planned;
    Some(RunnerResult { tests: tests.into_iter().collect(), counts, complete, build_failed })
}
