//! Lines of Python's unittest.

use super::{amount_of, count};

/// The rules between failures, and above the summary.
const RULE_WIDTH: usize = 70;

pub fn is_rule(text: &str, of: char) -> bool {
    text.len() == RULE_WIDTH && text.chars().all(|it| it == of)
}

/// Reads the heading of a failure, `FAIL: test_bad (tests.test_calc.TestCalc.test_bad) (i=1)`, into what stands behind
/// its kind, and whether it is an unexpected success, which has no rule of its own below it.
pub fn heading(text: &str) -> Option<(&str, bool)> {
    let failed = text.strip_prefix("FAIL: ").or_else(|| text.strip_prefix("ERROR: "));
    failed.map(|it| (it, false)).or_else(|| text.strip_prefix("UNEXPECTED SUCCESS: ").map(|it| (it, true)))
}

/// Reads `Ran 3 tests in 0.001s`.
pub fn ran(text: &str) -> Option<u32> {
    let (number, rest) = text.strip_prefix("Ran ")?.split_once(" test")?;
    (rest.starts_with(" in ") || rest.starts_with("s in ")).then(|| count(number)).flatten()
}

/// What stands below the `Ran` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnittestEnd {
    pub is_failure: bool,
    /// As printed: one for each subtest, and for each class that could not be set up.
    pub failing: u32,
    pub skipped: u32,
}

/// Reads `OK (skipped=1)`, `FAILED (failures=2, errors=1)` and `NO TESTS RAN`.
pub fn conclusion(text: &str) -> Option<UnittestEnd> {
    let (word, numbers) = text.split_once(" (").unwrap_or((text, ""));
    let is_failure = match word {
        "OK" | "NO TESTS RAN" => false,
        "FAILED" => true,
        _ => return None,
    };
    let parts = numbers.trim_end_matches(')').split(", ").filter_map(|it| it.split_once('='));
    let numbers: Vec<(u32, &str)> = parts.filter_map(|(word, number)| Some((count(number)?, word))).collect();
    let failing = amount_of(&numbers, &["failures", "errors", "unexpected successes"]);
    let skipped = amount_of(&numbers, &["skipped", "expected failures"]);
    Some(UnittestEnd { is_failure, failing, skipped })
}

/// Whether a name is that of a class or module that could not be set up or torn down, which is not among the tests
/// that ran.
pub fn is_fixture(name: &str) -> bool {
    let method = name.rsplit('.').next().unwrap_or(name);
    matches!(method, "setUpClass" | "tearDownClass" | "setUpModule" | "tearDownModule")
}
