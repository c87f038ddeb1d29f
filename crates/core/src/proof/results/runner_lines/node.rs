//! Lines of the `spec` reporter of node's test runner, and the totals that node writes behind its results.

use super::{count, without_duration};
use crate::proof::results::ids::TestOutcome;

/// What one of the totals counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeTotal {
    Tests,
    Passed,
    Failed,
    Cancelled,
    Skipped,
    /// The last of the totals.
    Todo,
}

/// Reads `tests 11`, behind the mark that the reporter sets before it.
pub fn total(text: &str) -> Option<(NodeTotal, u32)> {
    let (word, number) = text.split_once(' ')?;
    let of = match word {
        "tests" => NodeTotal::Tests,
        "pass" => NodeTotal::Passed,
        "fail" => NodeTotal::Failed,
        "cancelled" => NodeTotal::Cancelled,
        "skipped" => NodeTotal::Skipped,
        "todo" => NodeTotal::Todo,
        _ => return None,
    };
    Some((of, count(number)?))
}

/// Reads what the `spec` reporter says beside the tests: `ℹ tests 11`.
pub(crate) fn spec_total(text: &str) -> Option<(NodeTotal, u32)> {
    total(text.strip_prefix("ℹ ")?)
}

/// Reads the title of a suite, which stands before its tests.
pub fn suite(line: &str) -> Option<&str> {
    line.strip_prefix("▶ ").map(without_duration)
}

/// Whether the failures are drawn a second time below this line.
pub fn repeats_failures(line: &str) -> bool {
    line.starts_with("✖ failing tests:")
}

/// Reads `✔ adds (1.07ms)` and `✖ adds # TODO reason` into the title and the outcome.
pub fn test(line: &str) -> Option<(&str, TestOutcome)> {
    let (mark, title) = line.split_once(' ')?;
    let outcome = match mark {
        "✔" => TestOutcome::Passed,
        "✖" => TestOutcome::Failed,
        "﹣" | "⚠" => TestOutcome::Skipped,
        _ => return None,
    };
    match title.rsplit_once(" # ") {
        Some((title, directive)) if directive.starts_with("SKIP") || directive.starts_with("TODO") => {
            Some((without_duration(title), TestOutcome::Skipped))
        }
        Some(_) | None => Some((without_duration(title), outcome)),
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeTotal, spec_total, test, total};
    use crate::proof::results::ids::TestOutcome::{Failed, Passed, Skipped};

    #[test]
    fn marks_and_totals_are_read() {
        assert_eq!(test("✔ adds (1.07ms)"), Some(("adds", Passed)));
        assert_eq!(test("✖ subtracts (fast) (2ms)"), Some(("subtracts (fast)", Failed)));
        assert_eq!(test("✖ divides (1ms) # TODO later"), Some(("divides", Skipped)));
        assert_eq!(test("﹣ waits (0.1ms) # SKIP"), Some(("waits", Skipped)));
        assert_eq!(test("- waits"), None);
        assert_eq!(total("cancelled 2"), Some((NodeTotal::Cancelled, 2)));
        assert_eq!([total("suites 2"), total("pass many"), spec_total("pass 2")], [None; 3]);
    }
}
