//! Reads what node's own test runner adds to TAP: the totals at the end (`# tests 11`, `# pass 6` …,
//! with `ℹ` in its spec reporter), and the tree that the spec reporter draws. The totals are
//! node's word on what is a test and what a mere suite, so they replace a count of the points.

use super::tree::SuitePath;
use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::runner_lines::count;

/// The totals as far as they were read. They count when they are complete and add up.
#[derive(Debug, Default)]
pub(super) struct Totals {
    tests: Option<u32>,
    tally: LogTally,
}

impl Totals {
    /// Reads the text of one line, and returns the whole after the last.
    pub(super) fn read(&mut self, text: &str) -> Option<LogTally> {
        let (word, number) = text.split_once(' ')?;
        let number = count(number)?;
        let mut one = LogTally::default();
        match word {
            "tests" => *self = Totals { tests: Some(number), tally: LogTally::default() },
            "pass" => one.passing = number,
            "fail" | "cancelled" => one.failing = number,
            "skipped" | "todo" => one.skipped = number,
            _ => return None,
        }
        self.tally.add(&one);
        let complete = word == "todo" && self.tests == Some(self.tally.total());
        complete.then(|| std::mem::take(self).tally)
    }
}

/// The spec reporter.
#[derive(Debug, Default)]
pub(super) struct Spec {
    sum: Sum,
    first: Option<u64>,
    tree: SuitePath,
    names: FailedNames,
    totals: Totals,
    /// The failures are drawn a second time after the totals, without their place in the tree.
    repeating: bool,
}

impl Spec {
    pub(super) fn line(&mut self, at: u64, text: &str) {
        let trimmed = text.trim_start_matches(' ');
        let depth = (text.len() - trimmed.len()) / 2;
        if trimmed == "✖ failing tests:" {
            self.repeating = true;
        } else if let Some(text) = text.strip_prefix("ℹ ") {
            if let Some(mut tally) = self.totals.read(text) {
                tally.failed = std::mem::take(&mut self.names);
                self.sum.add(&tally, self.first.unwrap_or(at), at);
                *self = Spec { sum: std::mem::take(&mut self.sum), ..Spec::default() };
            }
        } else if let Some(name) = trimmed.strip_prefix("▶ ") {
            self.repeating = false;
            self.first.get_or_insert(at);
            self.tree.open(depth, name);
        } else if let Some(name) = trimmed.strip_prefix("✔ ") {
            self.repeating = false;
            self.first.get_or_insert(at);
            self.tree.point(depth, name, false);
        } else if let (false, Some(name)) = (self.repeating, trimmed.strip_prefix("✖ ")) {
            self.first.get_or_insert(at);
            let (name, fails) = name.strip_suffix(" # TODO").map_or((name, true), |name| (name, false));
            let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
            if let Some(leaf) = self.tree.point(depth, name, fails).filter(|_| fails) {
                self.names.insert(&leaf);
            }
        }
    }

    pub(super) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }
}
