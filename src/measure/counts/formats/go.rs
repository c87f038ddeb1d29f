//! Reads `go test`, plain, with `-v` and with `-json`. A test counts when go said that it ran, so
//! that a result printed by a test does not; each subtest counts beside its parent, as go reports
//! them. Without `-v` go does not say how many tests passed: then each passing package counts as
//! one, and failing tests are counted by their lines. A package that fails without a failing test
//! (it did not build, or the process ended early) counts as one failing test, named by the package;
//! a test that began and never ended is failing too.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::TestOutcome;
use loop_core::proof::runner_lines::go::{
    GoAction, GoEnding, GoEvent, begun, event, is_event, outcome, package,
};
use std::collections::{BTreeMap, BTreeSet};

/// More tests at once, or more packages at once, are not followed.
const UNDER_WAY_LIMIT: usize = 10_000;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Go {
    sum: Sum,
    /// The package whose output is being printed: its name comes last.
    package: CountedPackage,
    /// Packages of a `-json` run, which may be interleaved.
    packages: BTreeMap<String, CountedPackage>,
}

#[derive(Debug, Default)]
struct CountedPackage {
    first: Option<u64>,
    says_what_runs: bool,
    under_way: BTreeSet<String>,
    tally: LogTally,
}

impl Go {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if is_event(text) {
            if let Some(event) = event(text) {
                self.event(at, event);
            }
        } else if let Some(test) = begun(text) {
            self.package.begin(at, test);
        } else if let Some((outcome, test)) = outcome(text) {
            self.package.end(at, outcome, test);
        } else if let Some((ending, name)) = package(text) {
            let package = std::mem::take(&mut self.package);
            let tally = match ending {
                GoEnding::Failed | GoEnding::NotBuilt => package.failed(name),
                GoEnding::Passed if !package.says_what_runs => LogTally { passing: 1, ..LogTally::default() },
                GoEnding::Passed | GoEnding::NoTests => package.tally.clone(),
            };
            self.sum.add(&tally, package.first.unwrap_or(at), at);
        }
    }

    pub(in crate::measure::counts) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }

    fn event(&mut self, at: u64, event: GoEvent) {
        let GoEvent { action, package: Some(name), test, .. } = event else { return };
        if self.packages.len() >= UNDER_WAY_LIMIT && !self.packages.contains_key(&name) {
            return;
        }
        let ended = match action {
            GoAction::Ends(outcome) => Some(outcome),
            GoAction::Begins => None,
            GoAction::NotBuilt => return,
        };
        let package = self.packages.entry(name.clone()).or_default();
        package.says_what_runs = true;
        package.first.get_or_insert(at);
        match (test, ended) {
            (Some(test), None) => package.begin(at, &test),
            (Some(test), Some(ended)) => package.end(at, ended, &test),
            (None, _) => {
                let package = self.packages.remove(&name).unwrap_or_default();
                let is_failed = ended == Some(TestOutcome::Failed);
                let tally = if is_failed { package.failed(&name) } else { package.tally.clone() };
                self.sum.add(&tally, package.first.unwrap_or(at), at);
            }
        }
    }
}

impl CountedPackage {
    fn begin(&mut self, at: u64, test: &str) {
        self.first.get_or_insert(at);
        self.says_what_runs = true;
        if self.under_way.len() < UNDER_WAY_LIMIT {
            self.under_way.insert(test.to_owned());
        }
    }

    fn end(&mut self, at: u64, outcome: TestOutcome, test: &str) {
        let is_failed = outcome == TestOutcome::Failed;
        let believed = self.under_way.remove(test) || (!self.says_what_runs && is_failed);
        if !believed {
            return;
        }
        self.first.get_or_insert(at);
        let mut one = LogTally::default();
        match outcome {
            TestOutcome::Passed => one.passing = 1,
            TestOutcome::Skipped => one.skipped = 1,
            TestOutcome::Failed => {
                one.failing = 1;
                one.failed.insert(test);
            }
        }
        self.tally.add(&one);
    }

    fn failed(&self, name: &str) -> LogTally {
        let mut tally = LogTally { failed: FailedNames::default(), ..self.tally.clone() };
        for test in self.tally.failed.iter().chain(self.under_way.iter().map(String::as_str)) {
            tally.failed.insert(&format!("{name}.{test}"));
        }
        tally.failing += self.under_way.len() as u32;
        if tally.failing == 0 {
            tally.failing = 1;
            tally.failed.insert(name);
        }
        tally
    }
}
