//! What a reader adds up: how many tests passed, failed and were skipped, which ones failed, and
//! on which lines of the log that was said. Everything here has a bound, so that a log of any
//! length is read in constant memory.

use loop_core::proof::runner_lines::{COUNT_LIMIT, SummaryCounts};
use std::collections::BTreeSet;

/// More names of failing tests are not kept: a person reads the first few, and a phase that starts
/// with more than this many failing tests has a broken build rather than that many mistakes.
pub(super) const NAMES_LIMIT: usize = 500;

/// More characters of a name are not kept: parametrised tests may carry their whole input.
pub(super) const NAME_LENGTH_LIMIT: usize = 300;

/// The names of failing tests: sorted, each once. Of too many the first in order are kept, so what
/// is kept does not depend on the order in which tests ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FailedNames(BTreeSet<String>);

impl FailedNames {
    /// Keeps a name, cut to its limit.
    pub(super) fn insert(&mut self, name: &str) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        self.0.insert(name.chars().take(NAME_LENGTH_LIMIT).collect());
        if self.0.len() > NAMES_LIMIT {
            self.0.pop_last();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn into_sorted(self) -> Vec<String> {
        self.0.into_iter().collect()
    }
}

/// What one summary, or several added up, said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LogTally {
    pub(super) passing: u32,
    pub(super) failing: u32,
    pub(super) skipped: u32,
    pub(super) failed: FailedNames,
}

impl LogTally {
    pub(super) fn add(&mut self, other: &LogTally) {
        let add = |one: u32, two: u32| one.saturating_add(two).min(COUNT_LIMIT);
        self.passing = add(self.passing, other.passing);
        self.failing = add(self.failing, other.failing);
        self.skipped = add(self.skipped, other.skipped);
        other.failed.iter().for_each(|it| self.failed.insert(it));
    }

    pub(super) fn total(&self) -> u32 {
        self.passing.saturating_add(self.failing).saturating_add(self.skipped)
    }
}

impl From<SummaryCounts> for LogTally {
    fn from(counts: SummaryCounts) -> LogTally {
        let SummaryCounts { passed, failed, skipped } = counts;
        LogTally { passing: passed, failing: failed, skipped, failed: FailedNames::default() }
    }
}

/// What a reader found in a log, and where: the number of its first and of its last line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogFinding {
    pub(super) tally: LogTally,
    pub(super) first: u64,
    pub(super) last: u64,
    /// False where the text could as well have been printed by a test.
    pub(super) sure: bool,
}

impl LogFinding {
    /// Returns whether the other one was said between the first and the last line of this one.
    pub(super) fn encloses(&self, other: &LogFinding) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    pub(super) fn overlaps(&self, other: &LogFinding) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    pub(super) fn length(&self) -> u64 {
        self.last - self.first
    }
}

/// The sum of the summaries of one log.
#[derive(Debug, Default)]
pub(super) struct Sum(Option<LogFinding>);

impl Sum {
    pub(super) fn add(&mut self, tally: &LogTally, first: u64, last: u64) {
        let found =
            self.0.get_or_insert_with(|| LogFinding { tally: LogTally::default(), first, last, sure: true });
        found.tally.add(tally);
        found.first = found.first.min(first);
        found.last = found.last.max(last);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn finish(self) -> Option<LogFinding> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_within_its_bounds() {
        let mut names = FailedNames::default();
        (0..2 * NAMES_LIMIT).rev().for_each(|it| names.insert(&format!("test_{it:05}")));
        let kept: Vec<String> = (0..NAMES_LIMIT).map(|it| format!("test_{it:05}")).collect();
        assert_eq!(names.into_sorted(), kept);

        let mut tally =
            LogTally { passing: u32::MAX, failing: u32::MAX, skipped: u32::MAX, ..LogTally::default() };
        tally.add(&tally.clone());
        assert_eq!((tally.passing, tally.total()), (COUNT_LIMIT, 3 * COUNT_LIMIT));
    }
}
