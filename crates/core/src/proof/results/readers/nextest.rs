//! Reads `cargo nextest run`: one line for each test, then the `Summary` line. Skipped tests are
//! counted and not named by default.

use super::{RunnerResult, SummaryCounts, amount_of, amounts};
use crate::proof::results::ids::TestOutcome;
use std::collections::BTreeMap;

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut tests: BTreeMap<String, TestOutcome> = BTreeMap::new();
    let mut summary = None;
    let mut build_failed = false;
    for text in lines {
        if let Some((name, outcome)) = test_line(text) {
            // Retried tests have a line for each try; the last one counts.
            tests.insert(name, outcome);
        } else if let Some(found) = read_summary(text) {
            summary = Some(found);
        }
        build_failed |= text.starts_with("error: could not compile");
    }
    let (counts, complete) = summary?;
    Some(RunnerResult { tests: tests.into_iter().collect(), counts, complete, build_failed })
}

/// Reads `        PASS [   0.006s] (2/6) shop tests::adds`.
fn test_line(text: &str) -> Option<(String, TestOutcome)> {
    let (status, rest) = text.strip_prefix("  ")?.trim_start().split_once(" [")?;
    let status = status.rsplit(' ').next().filter(|it| !it.contains('/')).unwrap_or(status);
    let outcome = match status {
        "PASS" | "LEAK" | "FLAKY" => TestOutcome::Passed,
        "FAIL" | "TIMEOUT" | "ABORT" | "SIGABRT" | "SIGSEGV" | "SIGKILL" | "SIGTERM" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ if status.starts_with("FLAKY") => TestOutcome::Passed,
        _ => return None,
    };
    let (_, name) = rest.split_once("] ")?;
    let name = match name.trim_start().strip_prefix('(').and_then(|it| it.split_once(") ")) {
        Some((_, name)) => name,
        None => name,
    };
    let (binary, test) = name.trim().split_once(' ')?;
    Some((format!("{binary}::{}", test.trim()), outcome))
}

fn read_summary(text: &str) -> Option<(SummaryCounts, bool)> {
    let (_, text) = text.strip_prefix("     Summary [")?.split_once("] ")?;
    let (ran, outcomes) = text.split_once(" run: ")?;
    let (ran, _) = ran.split_once(" test")?;
    let (ran, planned) = ran.split_once('/').unwrap_or((ran, ran));
    let (ran, planned): (u32, u32) = (ran.parse().ok()?, planned.parse().ok()?);
    let outcomes = without_parentheses(outcomes);
    let outcomes = amounts(&outcomes, ",")?;
    let passed = amount_of(&outcomes, &["passed"]);
    let failed = ran.checked_sub(passed)?;
    Some((SummaryCounts { passed, failed, skipped: amount_of(&outcomes, &["skipped"]) }, ran == planned))
}

/// Takes out the remarks, as in `5 passed (1 slow, 1 flaky)`.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let keep = |it: &char| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(keep).collect()
}
