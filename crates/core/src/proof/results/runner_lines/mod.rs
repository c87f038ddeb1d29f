//! What a single line of a test runner says: its summary, a test and its outcome, the end of a package. One file
//! for each runner. Two readers are built on them: the one that names tests for a proof (`readers`), which looks at
//! a whole output, and the one that counts them after every iteration, line by line in bounded memory. Which lines
//! are believed is decided there, because it depends on the lines around.

pub mod go;
pub mod jest;
pub mod junit;
pub mod libtest;
pub mod mocha;
pub mod nextest;
pub mod node;
pub mod pytest;
pub mod tap;
pub mod unittest;
pub mod vitest;

/// No count is larger, so that the sum of three of them fits a `u32`.
pub const COUNT_LIMIT: u32 = 1_000_000_000;

/// Numbers as a runner's summary gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryCounts {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl SummaryCounts {
    pub fn total(self) -> u32 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    pub(super) fn plus(self, other: SummaryCounts) -> SummaryCounts {
        SummaryCounts {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

/// Reads a count: digits and nothing else.
pub fn count(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    digits.then(|| text.parse().map_or(COUNT_LIMIT, |it: u32| it.min(COUNT_LIMIT)))
}

/// Reads `2 failed, 1 timed out` as amounts and their words; nothing if any part is otherwise.
fn amounts<'a>(text: &'a str, separator: &str) -> Option<Vec<(u32, &'a str)>> {
    let amount = |part: &'a str| {
        let (number, word) = part.trim().split_once(' ')?;
        Some((count(number)?, word.trim()))
    };
    text.split(separator).map(amount).collect()
}

/// Adds up the amounts whose word is one of those given.
fn amount_of(amounts: &[(u32, &str)], words: &[&str]) -> u32 {
    let wanted = amounts.iter().filter(|(_, word)| words.contains(word));
    wanted.fold(0, |sum: u32, (number, _)| sum.saturating_add(*number).min(COUNT_LIMIT))
}

/// Takes a duration off the end of a title: `adds (3 ms)`, `adds (1.07ms)`, `adds 12ms`.
pub(super) fn without_duration(title: &str) -> &str {
    let is_time = |it: &str| {
        let number = it.strip_suffix("ms").or_else(|| it.strip_suffix('s')).or_else(|| it.strip_suffix('m'));
        number.is_some_and(|it| {
            let it = it.trim_end();
            !it.is_empty() && it.chars().all(|it| it.is_ascii_digit() || it == '.')
        })
    };
    let title = title.trim_end();
    if let Some((before, time)) = title.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
        return if is_time(time) { before.trim_end() } else { title };
    }
    match title.rsplit_once([' ', '\u{a0}']) {
        Some((before, time)) if is_time(time) => before.trim_end(),
        Some(_) | None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::{COUNT_LIMIT, count, pytest};

    #[test]
    fn a_number_of_any_length_stays_within_its_bound() {
        assert_eq!(count("99999999999999999999"), Some(COUNT_LIMIT));
        assert_eq!((count(""), count("-1"), count("+1"), count("1.5")), (None, None, None, None));
        let (counts, _) =
            pytest::closing("4294967295 passed, 4294967295 xpassed in 0.1s").expect("a summary");
        assert_eq!((counts.passed, counts.total()), (COUNT_LIMIT, COUNT_LIMIT));
    }
}
