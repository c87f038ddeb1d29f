//! Lines of `cargo test`.

use super::{SummaryCounts, amount_of, amounts, count};
use crate::proof::results::ids::TestOutcome;

/// Reads `running 3 tests`.
pub fn announcement(text: &str) -> Option<u32> {
    let (number, word) = text.strip_prefix("running ")?.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| count(number)).flatten()
}

/// Reads what stands behind `test result: `, with whether it says `ok`.
pub fn result(text: &str) -> Option<(SummaryCounts, bool)> {
    let (word, numbers) = text.split_once(". ")?;
    let numbers = numbers.split_once("; finished in").map_or(numbers, |(it, _)| it);
    let numbers = amounts(numbers, ";")?;
    let counts = SummaryCounts {
        passed: amount_of(&numbers, &["passed", "measured"]),
        failed: amount_of(&numbers, &["failed"]),
        skipped: amount_of(&numbers, &["ignored"]),
    };
    Some((counts, word == "ok"))
}

/// Reads `test tests::adds ... ok` into the name and the outcome.
pub fn test(text: &str) -> Option<(&str, TestOutcome)> {
    let (name, outcome) = text.strip_prefix("test ")?.split_once(" ... ")?;
    let remarks = [" - should panic", " - compile fail", " - compile"];
    let name = remarks.iter().find_map(|it| name.strip_suffix(it)).unwrap_or(name);
    let outcome = match outcome.split([' ', ',']).next()? {
        "ok" | "bench:" => TestOutcome::Passed,
        "FAILED" => TestOutcome::Failed,
        "ignored" => TestOutcome::Skipped,
        _ => return None,
    };
    Some((name, outcome))
}

/// Whether the names of the failing tests stand below this line, each four columns further in.
pub fn lists_failures(text: &str) -> bool {
    text == "failures:"
}

/// Whether cargo says that a target failed. A dying test leaves its line unfinished, so it may say so in the middle
/// of one.
pub fn is_failed_target(text: &str) -> bool {
    text.contains("error: test failed, to rerun pass")
        || text.contains("error: doctest failed, to rerun pass")
}
