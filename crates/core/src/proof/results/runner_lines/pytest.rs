//! Lines of pytest.

use super::{SummaryCounts, amount_of, amounts};

/// Reads `==== FAILURES ====`.
pub fn banner(text: &str) -> Option<&str> {
    let title = text.strip_prefix('=')?.strip_suffix('=')?.trim_matches('=');
    title.strip_prefix(' ')?.strip_suffix(' ')
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

/// Reads `FAILED tests/test_calc.py::test_bad - AssertionError`, a line of the short summary, into its word and
/// what it is about.
pub fn summary_entry(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(' ')?;
    let (word, rest) = match word {
        "PASSED" | "XPASS" | "FAILED" | "ERROR" | "XFAIL" => (word, rest),
        // The parameters of a subtest may hold spaces: `SUBFAILED(i=1, j=2) test_a.py::test_b`.
        _ if word.starts_with("SUBFAILED") => ("FAILED", text.split_once([')', ']'])?.1.trim_start()),
        _ => return None,
    };
    // Parameters may hold the separator too, so those in brackets are read to their end first.
    let separator = rest.find(" - ").unwrap_or(rest.len());
    let end = match rest.find('[').filter(|it| *it < separator) {
        Some(open) => rest[open..].find("] - ").map_or(rest.len(), |it| open + it + 1),
        None => separator,
    };
    Some((word, rest[..end].trim_end()))
}
