//! Lines of pytest.

use super::{SummaryCounts, amount_of, amounts};
use crate::proof::results::ids::TestOutcome;

/// A line with a title between two rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PytestBanner<'a> {
    SessionStart,
    /// Results with what the tests printed.
    Captured,
    ShortSummary,
    Warnings,
    /// Another one; the numbers that close a session stand in such a line.
    Other(&'a str),
}

/// Reads `==== FAILURES ====`.
pub fn banner(text: &str) -> Option<PytestBanner<'_>> {
    let title = text.strip_prefix('=')?.strip_suffix('=')?.trim_matches('=');
    Some(match title.strip_prefix(' ')?.strip_suffix(' ')? {
        "test session starts" => PytestBanner::SessionStart,
        "ERRORS" | "FAILURES" | "PASSES" | "XFAILURES" | "XPASSES" => PytestBanner::Captured,
        "short test summary info" => PytestBanner::ShortSummary,
        "warnings summary" => PytestBanner::Warnings,
        title => PytestBanner::Other(title),
    })
}

/// Reads the word that stands for the outcome of a test. An expected failure counts as skipped, an unexpected pass as
/// passed.
pub fn outcome(word: &str) -> Option<TestOutcome> {
    match word {
        "PASSED" | "XPASS" => Some(TestOutcome::Passed),
        "FAILED" | "ERROR" => Some(TestOutcome::Failed),
        "XFAIL" | "SKIPPED" => Some(TestOutcome::Skipped),
        _ => None,
    }
}

/// Reads `3 failed, 5 passed, 1 error in 0.07s` into numbers, and how many of the failures are errors.
pub fn closing(text: &str) -> Option<(SummaryCounts, u32)> {
    let (numbers, time) = text.rsplit_once(" in ")?;
    let time = time.split(' ').next()?.strip_suffix('s')?;
    time.parse::<f64>().ok()?;
    if numbers == "no tests ran" {
        return Some((SummaryCounts::default(), 0));
    }
    let numbers = amounts(numbers, ",")?;
    let amount = |words: &[&str]| amount_of(&numbers, words);
    let known = ["passed", "failed", "error", "errors", "skipped", "xfailed", "xpassed", "deselected"];
    if !numbers.iter().any(|(_, word)| known.contains(word)) {
        return None;
    }
    let counts = SummaryCounts {
        passed: amount(&["passed", "xpassed"]),
        failed: amount(&["failed", "error", "errors"]),
        skipped: amount(&["skipped", "xfailed"]),
    };
    Some((counts, amount(&["error", "errors"])))
}

/// Reads `FAILED tests/test_calc.py::test_bad - AssertionError`, a line of the short summary, into the outcome and
/// what it is about. Those of skipped tests name a file and a line in place of a test.
pub fn summary_entry(text: &str) -> Option<(TestOutcome, &str)> {
    let (word, rest) = text.split_once(' ')?;
    let (outcome, rest) = match word {
        "SKIPPED" => return None,
        // The parameters of a subtest may hold spaces: `SUBFAILED(i=1, j=2) test_a.py::test_b`.
        _ if word.starts_with("SUBFAILED") => {
            (TestOutcome::Failed, text.split_once([')', ']'])?.1.trim_start())
        }
        _ => (outcome(word)?, rest),
    };
    // Parameters may hold the separator too, so those in brackets are read to their end first.
    let separator = rest.find(" - ").unwrap_or(rest.len());
    let end = match rest.find('[').filter(|it| *it < separator) {
        Some(open) => rest[open..].find("] - ").map_or(rest.len(), |it| open + it + 1),
        None => separator,
    };
    Some((outcome, rest[..end].trim_end()))
}
