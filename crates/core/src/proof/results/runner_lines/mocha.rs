//! Lines of mocha's summary and of its list of failures.

use super::count;

/// Reads `  3 passing (4ms)`.
pub fn passing(text: &str) -> Option<u32> {
    let (number, time) = text.strip_prefix("  ")?.split_once(" passing (")?;
    time.ends_with(')').then(|| count(number)).flatten()
}

/// Reads `  2 pending`.
pub fn amount(text: &str, word: &str) -> Option<u32> {
    let (number, found) = text.strip_prefix("  ")?.split_once(' ')?;
    (found == word).then(|| count(number)).flatten()
}

/// Reads `1) title`.
pub fn numbered(line: &str) -> Option<&str> {
    let (number, title) = line.split_once(") ")?;
    count(number).map(|_| title)
}
