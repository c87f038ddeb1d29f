//! Reads `go test`: text, with and without `-v`, and `-json`. An id is the package and the test.
//! Without `-v` go names failing tests only, so a package that passed is one id of its own. A package
//! that fails without a failing test (a panic, `os.Exit`) is a failing id; a test that began and never
//! ended is unknown.

use super::RunnerResult;
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::SummaryCounts;
use crate::proof::results::runner_lines::go::{
    GoAction, GoEnding, GoEvent, begun, event, is_event, outcome, package,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = GoReader { complete: true, ..GoReader::default() };
    lines.iter().for_each(|it| reader.line(it));
    let GoReader { tests, any, complete, build_failed, .. } = reader;
    let counts = SummaryCounts::of(&tests);
    any.then_some(RunnerResult { tests, counts, complete: complete && !build_failed, build_failed })
}

#[derive(Default)]
struct GoReader {
    tests: Vec<(String, TestOutcome)>,
    /// The package whose output is being printed: its name comes last.
    package: GoPackage,
    /// Packages of a `-json` run, which may be interleaved.
    packages: BTreeMap<String, GoPackage>,
    any: bool,
    complete: bool,
    build_failed: bool,
}

#[derive(Default)]
struct GoPackage {
    verbose: bool,
    under_way: BTreeSet<String>,
    tests: Vec<(String, TestOutcome)>,
}

impl GoReader {
    fn line(&mut self, text: &str) {
        if is_event(text) {
            if let Some(event) = event(text) {
                self.event(event);
            }
        } else if let Some(test) = begun(text) {
            self.package.begin(test);
        } else if let Some((outcome, test)) = outcome(text) {
            self.package.end(test, outcome);
        } else if let Some((ending, name)) = package(text) {
            let package = std::mem::take(&mut self.package);
            self.close(name, package, ending);
        }
    }

    fn event(&mut self, event: GoEvent) {
        let GoEvent { action, package: Some(name), test, failed_build } = event else {
            self.build_failed |= event.action == GoAction::NotBuilt;
            return;
        };
        let package = self.packages.entry(name.clone()).or_default();
        package.verbose = true;
        let outcome = match action {
            GoAction::Begins => {
                if let Some(test) = test {
                    package.begin(&test);
                }
                return;
            }
            GoAction::Ends(outcome) => outcome,
            GoAction::NotBuilt => return,
        };
        match test {
            Some(test) => package.end(&test, outcome),
            None => {
                let package = self.packages.remove(&name).unwrap_or_default();
                let ending = match outcome {
                    TestOutcome::Failed if failed_build => GoEnding::NotBuilt,
                    TestOutcome::Failed => GoEnding::Failed,
                    TestOutcome::Passed => GoEnding::Passed,
                    TestOutcome::Skipped => GoEnding::NoTests,
                };
                self.close(&name, package, ending);
            }
        }
    }

    fn close(&mut self, name: &str, package: GoPackage, ending: GoEnding) {
        self.any = true;
        let has_failing = package.tests.iter().any(|(_, it)| *it == TestOutcome::Failed);
        let own = match ending {
            GoEnding::Passed if !package.verbose => Some(TestOutcome::Passed),
            GoEnding::Failed if !package.verbose || !has_failing => Some(TestOutcome::Failed),
            GoEnding::Passed | GoEnding::Failed | GoEnding::NoTests | GoEnding::NotBuilt => None,
        };
        self.build_failed |= matches!(ending, GoEnding::NotBuilt);
        self.complete &= package.under_way.is_empty();
        self.tests.extend(own.map(|it| (name.to_owned(), it)));
        let named = package.tests.into_iter().map(|(test, outcome)| (format!("{name}.{test}"), outcome));
        self.tests.extend(named);
    }
}

impl GoPackage {
    fn begin(&mut self, test: &str) {
        self.verbose = true;
        self.under_way.insert(test.to_owned());
    }

    fn end(&mut self, test: &str, outcome: TestOutcome) {
        let believed = self.under_way.remove(test) || (!self.verbose && outcome == TestOutcome::Failed);
        if believed {
            self.tests.push((test.to_owned(), outcome));
        }
    }
}
