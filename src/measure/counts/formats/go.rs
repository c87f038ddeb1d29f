//! Reads `go test`, plain, with `-v` and with `-json`. A test counts when go said that it ran, so
//! that a result printed by a test does not; each subtest counts beside its parent, as go reports
//! them. Without `-v` go does not say how many tests passed: then each passing package counts as
//! one, and failing tests are counted by their lines. A package that fails without a failing test
//! (it did not build, or the process ended early) counts as one failing test, named by the package;
//! a test that began and never ended is failing too.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use serde::Deserialize;
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

/// One line of `-json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoLine {
    action: String,
    package: String,
    test: Option<String>,
}

impl Go {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if text.starts_with('{') && text.contains("\"Action\":") {
            if let Ok(event) = serde_json::from_str(text) {
                self.event(at, event);
            }
        } else if let Some((_, test)) = text.split_once("=== RUN   ") {
            self.package.begin(at, test.trim());
        } else if let Some((word, test)) = outcome(text) {
            self.package.end(at, word, test);
        } else if let Some((word, name, remark)) = package_line(text) {
            let package = std::mem::take(&mut self.package);
            let tally = match word {
                "FAIL" => package.failed(name),
                "ok" if package.says_what_runs => package.tally.clone(),
                "ok" if remark.contains("[no tests to run]") => LogTally::default(),
                "ok" => LogTally { passing: 1, ..LogTally::default() },
                _ => LogTally::default(),
            };
            self.sum.add(&tally, package.first.unwrap_or(at), at);
        }
    }

    pub(in crate::measure::counts) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }

    fn event(&mut self, at: u64, event: GoLine) {
        let GoLine { action, package: name, test } = event;
        if self.packages.len() >= UNDER_WAY_LIMIT && !self.packages.contains_key(&name) {
            return;
        }
        let ended = match action.as_str() {
            "pass" => "PASS",
            "fail" => "FAIL",
            "skip" => "SKIP",
            "run" => "",
            _ => return,
        };
        let package = self.packages.entry(name.clone()).or_default();
        package.says_what_runs = true;
        package.first.get_or_insert(at);
        match test {
            Some(test) if ended.is_empty() => package.begin(at, &test),
            Some(test) => package.end(at, ended, &test),
            None => {
                let package = self.packages.remove(&name).unwrap_or_default();
                let tally = if ended == "FAIL" { package.failed(&name) } else { package.tally.clone() };
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

    fn end(&mut self, at: u64, word: &str, test: &str) {
        let believed = self.under_way.remove(test) || (!self.says_what_runs && word == "FAIL");
        if !believed {
            return;
        }
        self.first.get_or_insert(at);
        let mut one = LogTally::default();
        match word {
            "PASS" => one.passing = 1,
            "SKIP" => one.skipped = 1,
            _ => {
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

/// Reads `--- FAIL: TestName (0.00s)`, which follows what the test printed without a line end.
fn outcome(text: &str) -> Option<(&str, &str)> {
    let rest = &text[text.rfind("--- ")? + 4..];
    let (word, rest) = rest.split_once(": ")?;
    let (test, time) = rest.rsplit_once(" (")?;
    (matches!(word, "PASS" | "FAIL" | "SKIP") && time.ends_with("s)")).then_some((word, test))
}

/// Reads `ok PACKAGE 0.002s`, `FAIL PACKAGE [build failed]` and `? PACKAGE [no test files]`, with tabs
/// before and after the package.
fn package_line(text: &str) -> Option<(&str, &str, &str)> {
    let (word, rest) = text.split_once('\t')?;
    let word = word.trim_end();
    let (name, remark) = rest.split_once(['\t', ' '])?;
    (matches!(word, "ok" | "FAIL" | "?") && !name.is_empty()).then_some((word, name, remark))
}
