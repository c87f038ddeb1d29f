//! Lines of jest.

use super::{SummaryCounts, amount_of, amounts, without_duration};

/// Reads `FAIL src/a.test.js (5.2 s)` into the file and whether it failed; with colours there is a space in front.
pub fn file(text: &str) -> Option<(&str, bool)> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let (word, path) = text.split_once(' ')?;
    matches!(word, "PASS" | "FAIL").then(|| (without_duration(path.trim()), word == "FAIL"))
}

/// What stands behind the `●` of a heading below a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JestHeading {
    /// The file itself did not run.
    BrokenFile,
    FailedTest,
    /// What was printed.
    Output,
}

pub fn heading(title: &str) -> JestHeading {
    match title {
        "Test suite failed to run" => JestHeading::BrokenFile,
        "Console" => JestHeading::Output,
        _ if title.starts_with("process.exit called with") => JestHeading::Output,
        _ => JestHeading::FailedTest,
    }
}

/// Reads what stands behind `Tests: `.
pub fn numbers(text: &str) -> Option<SummaryCounts> {
    let numbers = amounts(text, ",")?;
    let counts = SummaryCounts {
        passed: amount_of(&numbers, &["passed"]),
        failed: amount_of(&numbers, &["failed"]),
        skipped: amount_of(&numbers, &["skipped", "todo", "pending"]),
    };
    (counts.total() == amount_of(&numbers, &["total"])).then_some(counts)
}
