//! Reads Python's unittest, and Django's runner on top of it: `Ran N tests`, then `OK` or `FAILED`
//! with what is to be taken off. The `Ran` line counts only under the rule that closes the list of
//! failures. unittest counts a failure for each subtest, and failures of class fixtures that are
//! not among the tests it ran, so the headings of the list say how many different tests failed.
//! An expected failure counts as skipped; an unexpected success fails the run, so it is failing.

use crate::measure::counts::tally::{LogFinding, LogTally, Sum};
use loop_core::proof::runner_lines::unittest::{conclusion, heading, is_fixture, is_rule, ran};
use std::collections::BTreeSet;

/// More different failing tests are not told apart; their number is then the one printed.
const HEADINGS_LIMIT: usize = 10_000;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Unittest {
    sum: Sum,
    first: Option<u64>,
    place: SummaryPlace,
    headings: u32,
    failed: BTreeSet<String>,
}

#[derive(Debug, Default, PartialEq)]
enum SummaryPlace {
    #[default]
    Running,
    Heading,
    Surprises,
    Ruled,
    Ran(u32),
}

impl Unittest {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if is_rule(text, '=') {
            self.first.get_or_insert(at);
            self.place = SummaryPlace::Heading;
            return;
        }
        if is_rule(text, '-') {
            self.first.get_or_insert(at);
            self.place =
                if self.place == SummaryPlace::Heading { SummaryPlace::Running } else { SummaryPlace::Ruled };
            return;
        }
        match self.place {
            SummaryPlace::Heading | SummaryPlace::Surprises => self.read_heading(text),
            SummaryPlace::Ruled => {
                if let Some(number) = ran(text) {
                    self.place = SummaryPlace::Ran(number);
                }
            }
            SummaryPlace::Ran(number) => self.read_end(at, text, number),
            SummaryPlace::Running => {}
        }
    }

    pub(in crate::measure::counts) fn finish(self) -> Option<LogFinding> {
        self.sum.finish()
    }

    fn read_heading(&mut self, text: &str) {
        let Some((title, is_surprise)) = heading(text) else { return };
        if is_surprise {
            self.place = SummaryPlace::Surprises;
        }
        self.headings = self.headings.saturating_add(1);
        if self.failed.len() < HEADINGS_LIMIT {
            self.failed.insert(identity(title));
        }
    }

    fn read_end(&mut self, at: u64, text: &str, number: u32) {
        let Some(end) = conclusion(text) else { return };
        let (printed, skipped) = (end.failing, end.skipped);
        let told_apart = self.headings == printed && self.failed.len() < HEADINGS_LIMIT;
        let of_classes = self.failed.iter().filter(|it| is_fixture(it)).count() as u32;
        let (failing, among_ran) = match told_apart {
            true => (self.failed.len() as u32, self.failed.len() as u32 - of_classes),
            false => (printed, printed),
        };
        let passing = number.saturating_sub(among_ran).saturating_sub(skipped);
        let mut tally = LogTally { passing, failing, skipped, ..LogTally::default() };
        if failing > 0 {
            self.failed.iter().for_each(|it| tally.failed.insert(it));
        }
        self.sum.add(&tally, self.first.unwrap_or(at), at);
        *self = Unittest { sum: std::mem::take(&mut self.sum), ..Unittest::default() };
    }
}

/// Returns the dotted name of `test_a (module.Class.test_a) (i=1)`; older versions of Python leave
/// the method out of the parentheses.
fn identity(title: &str) -> String {
    let Some((method, rest)) = title.split_once(" (") else { return title.to_owned() };
    let owner = rest.split_once(')').map_or(rest, |(owner, _)| owner);
    let owner = owner.strip_prefix("unittest.loader._FailedTest").unwrap_or(owner);
    let owner = owner.trim_start_matches('.');
    match owner.is_empty() || owner == method || owner.ends_with(&format!(".{method}")) {
        true if owner.is_empty() => method.to_owned(),
        true => owner.to_owned(),
        false => format!("{owner}.{method}"),
    }
}
