//! The summary of vitest.

use super::{SummaryCounts, amount_of, amounts, count};

/// Reads what stands behind `Tests`: `1 failed | 2 passed | 1 skipped (4)`, and `no tests`.
pub fn numbers(text: &str) -> Option<SummaryCounts> {
    let text = text.trim();
    if text == "no tests" {
        return Some(SummaryCounts::default());
    }
    let (numbers, total) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let numbers = amounts(numbers, "|")?;
    let counts = SummaryCounts {
        passed: amount_of(&numbers, &["passed"]),
        failed: amount_of(&numbers, &["failed"]),
        skipped: amount_of(&numbers, &["skipped", "todo", "expected fail"]),
    };
    (counts.total() == count(total)?).then_some(counts)
}
