//! Reads what node's own test runner adds to TAP: the totals at the end (`# tests 11`, `# pass 6` …,
//! with `ℹ` in its spec reporter), and the tree that the spec reporter draws. The totals are
//! node's word on what is a test and what a mere suite, so they replace a count of the points.

use super::tree::SuitePath;
use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::TestOutcome;
use loop_core::proof::runner_lines::node::{self, NodeTotal};

/// The totals as far as they were read. They count when they are complete and add up.
#[derive(Debug, Default)]
pub(super) struct Totals {
    tests: Option<u32>,
    tally: LogTally,
}

impl Totals {
    /// Reads the text of one line, and returns the whole after the last.
    pub(super) fn read(&mut self, text: &str) -> Option<LogTally> {
        let (of, number) = node::total(text)?;
        let mut one = LogTally::default();
        match of {
            NodeTotal::Tests => *self = Totals { tests: Some(number), tally: LogTally::default() },
            NodeTotal::Passed => one.passing = number,
            NodeTotal::Failed | NodeTotal::Cancelled => one.failing = number,
            NodeTotal::Skipped | NodeTotal::Todo => one.skipped = number,
        }
        self.tally.add(&one);
        let complete = of == NodeTotal::Todo && self.tests == Some(self.tally.total());
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
        if node::repeats_failures(trimmed) {
            self.repeating = true;
        } else if let Some(text) = text.strip_prefix("ℹ ") {
            if let Some(mut tally) = self.totals.read(text) {
                tally.failed = std::mem::take(&mut self.names);
                self.sum.add(&tally, self.first.unwrap_or(at), at);
                *self = Spec { sum: std::mem::take(&mut self.sum), ..Spec::default() };
            }
        } else if let Some(name) = node::suite(trimmed) {
            self.repeating = false;
            self.first.get_or_insert(at);
            self.tree.open(depth, name);
        } else if let Some((name, outcome)) = node::test(trimmed) {
            let fails = outcome == TestOutcome::Failed;
            // A cross repeats a failure; a tick belongs to the next run.
            if fails && self.repeating {
                return;
            }
            self.repeating = false;
            self.first.get_or_insert(at);
            if let Some(leaf) = self.tree.point(depth, name, fails).filter(|_| fails) {
                self.names.insert(&leaf);
            }
        }
    }

    pub(super) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }
}
