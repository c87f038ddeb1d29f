//! The number of a phase: `3`, `03` and `3.0` name the same one, `2.1` was inserted after `2`, and
//! `1` is not `10`.

use std::cmp::Ordering;

/// More digits or levels are no number that a person gave a phase.
const DIGITS_MOST: usize = 6;
const LEVELS_MOST: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseNumber {
    levels: Vec<u32>,
}

impl PhaseNumber {
    /// Reads a number that stands alone.
    pub fn read(text: &str) -> Option<PhaseNumber> {
        let levels: Option<Vec<u32>> = text.split('.').map(level).collect();
        let mut levels = levels.filter(|it| it.len() <= LEVELS_MOST)?;
        while 1 < levels.len() && levels.last() == Some(&0) {
            levels.pop();
        }
        Some(PhaseNumber { levels })
    }

    /// Reads the number that a text begins with, and returns what follows it.
    pub fn prefix(text: &str) -> Option<(PhaseNumber, &str)> {
        let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
        let digits = text[..end].trim_end_matches('.');
        Some((PhaseNumber::read(digits)?, &text[digits.len()..]))
    }

    /// Returns the number without what stands behind its first dot.
    pub fn whole(&self) -> u32 {
        self.levels[0]
    }

    /// Returns the number as names of folders have it: `03`, `02.1`.
    pub fn padded(&self) -> String {
        let rest: String = self.levels.iter().skip(1).map(|it| format!(".{it}")).collect();
        format!("{:02}{rest}", self.levels[0])
    }
}

fn level(text: &str) -> Option<u32> {
    let is_number =
        !text.is_empty() && text.len() <= DIGITS_MOST && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

impl std::fmt::Display for PhaseNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let levels: Vec<String> = self.levels.iter().map(u32::to_string).collect();
        f.pad(&levels.join("."))
    }
}

impl Ord for PhaseNumber {
    fn cmp(&self, other: &PhaseNumber) -> Ordering {
        self.levels.cmp(&other.levels)
    }
}

impl PartialOrd for PhaseNumber {
    fn partial_cmp(&self, other: &PhaseNumber) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::PhaseNumber;

    #[test]
    fn numbers_are_compared_as_numbers() {
        let read = |text: &str| PhaseNumber::read(text).expect(text);
        assert_eq!((read("03"), read("3.0"), read("02.1")), (read("3"), read("3"), read("2.1")));
        assert!(
            read("1") < read("2")
                && read("2") < read("2.1")
                && read("2.1") < read("2.10")
                && read("9") < read("10")
        );
        assert_eq!(
            (read("3").padded(), read("02.1").padded(), read("08").padded()),
            ("03".into(), "02.1".into(), "08".into())
        );
        assert_eq!(read("02.1").to_string(), "2.1");
        for bad in ["", ".", "x", "1.", "1..2", "-1", "99999999", "1.2.3.4.5"] {
            assert_eq!(PhaseNumber::read(bad), None, "{bad}");
        }
        assert_eq!(PhaseNumber::prefix("02.1-fix"), Some((read("2.1"), "-fix")));
        assert_eq!(PhaseNumber::prefix("10: Users"), Some((read("10"), ": Users")));
    }
}
