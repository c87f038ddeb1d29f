//! Reads what a test runner printed: how many tests there are, how many of them passed, failed or
//! were skipped, and which ones failed. Each format has a file of its own in `formats/`; a [`CountReader`] is fed the
//! lines as they come and holds a bounded amount of memory, however long the log is. Summaries of
//! one log add up, because workspaces print several. Errors of the runner itself count as failing
//! tests; a build that failed before any test ran leaves nothing to read. Whether the check passed
//! is not decided here: that is its exit code together with these numbers.
//!
//! What a line of a runner says is read in `loop_core::proof::runner_lines`, for these and for the readers of the
//! proof. Those look at a whole output, name every test and may give up; these read lines of any length in bounded
//! memory, after every iteration, and must bring numbers where names are missing.

mod formats;
mod line;
mod tally;
#[cfg(test)]
mod tests;

use formats::{cargo, go, jest, junit, mocha, nextest, pairs, pytest, tap, unittest, vitest};
use loop_base::value::Value;
use loop_core::proof::CountFormat;
use std::collections::BTreeMap;
use tally::{LogFinding, LogTally};

/// What a test run came to. `passing + failing + skipped == total`, always.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TestCounts {
    pub(crate) total: u32,
    pub(crate) passing: u32,
    pub(crate) failing: u32,
    pub(crate) skipped: u32,
    /// The names of failing tests as far as the runner printed them: sorted, each once, at most 500.
    pub(crate) failed: Vec<String>,
    /// What `name=value` pairs brought; empty with every other format.
    pub(crate) metrics: BTreeMap<String, Value>,
}

/// Reads a log line by line. With `auto` every format reads along, and at the end the ones with
/// evidence count.
#[derive(Debug)]
pub(crate) struct CountReader {
    formats: Vec<Format>,
    lines: u64,
}

impl CountReader {
    pub(crate) fn new(format: CountFormat) -> CountReader {
        CountReader { formats: Format::of(format), lines: 0 }
    }

    /// Takes one line, with or without its line ending. Of a longer line than 64 KiB only the
    /// beginning is read, so a caller need not hold more of it.
    pub(crate) fn line(&mut self, line: &[u8]) {
        line::texts(line, |text| {
            self.lines += 1;
            self.formats.iter_mut().for_each(|it| it.line(self.lines, text));
        });
    }

    /// Returns what was read: nothing if no summary could be read, zero tests if a summary said so.
    pub(crate) fn finish(self) -> Option<TestCounts> {
        let alone = self.formats.len() == 1;
        let mut findings = Vec::new();
        let mut report = None;
        let mut own = (None, BTreeMap::new());
        for format in self.formats {
            match format.finish() {
                FormatResult::Runner(found) => findings.extend(found),
                FormatResult::Report(found) => report = found,
                FormatResult::Pairs(found, metrics) => own = (found, metrics),
            }
        }
        let (own, metrics) = own;
        if alone {
            let said = !metrics.is_empty();
            let tally = own.or(report).or(findings.pop()).map(|it| it.tally);
            let tally = tally.or(said.then(LogTally::default));
            return tally.map(|it| TestCounts { metrics, ..counts(it) });
        }
        let stands_alone = |it: &LogFinding| !findings.iter().any(|other| other.sure && other.encloses(it));
        // Pairs and reports are printed on purpose to be read by a program, so beside them what the
        // runner printed is the same tests once more, unless they are part of its own output.
        if let Some(own) = own.filter(stands_alone) {
            return Some(TestCounts { metrics, ..counts(own.tally) });
        }
        if let Some(report) = report.filter(stands_alone) {
            return Some(counts(report.tally));
        }
        several(findings).map(counts)
    }
}

/// Adds up the summaries of several runners in one log. A summary inside another runner's output was
/// printed by a test and is not counted; an uncertain one counts only where it is alone.
fn several(mut findings: Vec<LogFinding>) -> Option<LogTally> {
    if findings.iter().any(|it| it.sure) {
        findings.retain(|it| it.sure);
    }
    findings.sort_by_key(|it| std::cmp::Reverse(it.length()));
    let mut taken: Vec<LogFinding> = Vec::new();
    for finding in findings {
        if !taken.iter().any(|it| it.overlaps(&finding)) {
            taken.push(finding);
        }
    }
    taken.into_iter().map(|it| it.tally).reduce(|mut sum, it| {
        sum.add(&it);
        sum
    })
}

fn counts(tally: LogTally) -> TestCounts {
    // Adding to nothing brings every number within its bound.
    let mut bounded = LogTally::default();
    bounded.add(&tally);
    let total = bounded.total();
    let LogTally { passing, failing, skipped, failed } = bounded;
    TestCounts { total, passing, failing, skipped, failed: failed.into_sorted(), metrics: BTreeMap::new() }
}

#[derive(Debug)]
enum Format {
    Cargo(cargo::Cargo),
    Nextest(nextest::Nextest),
    Pytest(pytest::Pytest),
    Unittest(unittest::Unittest),
    Jest(jest::Jest),
    Vitest(vitest::Vitest),
    Mocha(mocha::Mocha),
    Go(go::Go),
    Tap(Box<tap::Tap>),
    Junit(junit::Junit),
    Pairs(pairs::Pairs),
}

/// What a format found, by how it came about.
enum FormatResult {
    Runner(Option<LogFinding>),
    Report(Option<LogFinding>),
    Pairs(Option<LogFinding>, BTreeMap<String, Value>),
}

impl Format {
    fn of(format: CountFormat) -> Vec<Format> {
        vec![match format {
            CountFormat::Auto => {
                let single = CountFormat::ALL.into_iter().filter(|it| *it != CountFormat::Auto);
                return single.flat_map(Format::of).collect();
            }
            CountFormat::Cargo => Format::Cargo(Default::default()),
            CountFormat::Nextest => Format::Nextest(Default::default()),
            CountFormat::Pytest => Format::Pytest(Default::default()),
            CountFormat::Unittest => Format::Unittest(Default::default()),
            CountFormat::Jest => Format::Jest(Default::default()),
            CountFormat::Vitest => Format::Vitest(Default::default()),
            CountFormat::Mocha => Format::Mocha(Default::default()),
            CountFormat::Go => Format::Go(Default::default()),
            CountFormat::Tap => Format::Tap(Default::default()),
            CountFormat::Junit => Format::Junit(Default::default()),
            CountFormat::KeyValue => Format::Pairs(Default::default()),
        }]
    }

    fn line(&mut self, at: u64, text: &str) {
        match self {
            Format::Cargo(it) => it.line(at, text),
            Format::Nextest(it) => it.line(at, text),
            Format::Pytest(it) => it.line(at, text),
            Format::Unittest(it) => it.line(at, text),
            Format::Jest(it) => it.line(at, text),
            Format::Vitest(it) => it.line(at, text),
            Format::Mocha(it) => it.line(at, text),
            Format::Go(it) => it.line(at, text),
            Format::Tap(it) => it.line(at, text),
            Format::Junit(it) => it.line(at, text),
            Format::Pairs(it) => it.line(at, text),
        }
    }

    fn finish(self) -> FormatResult {
        match self {
            Format::Cargo(it) => FormatResult::Runner(it.finish()),
            Format::Nextest(it) => FormatResult::Runner(it.finish()),
            Format::Pytest(it) => FormatResult::Runner(it.finish()),
            Format::Unittest(it) => FormatResult::Runner(it.finish()),
            Format::Jest(it) => FormatResult::Runner(it.finish()),
            Format::Vitest(it) => FormatResult::Runner(it.finish()),
            Format::Mocha(it) => FormatResult::Runner(it.finish()),
            Format::Go(it) => FormatResult::Runner(it.finish()),
            Format::Tap(it) => FormatResult::Runner(it.finish()),
            Format::Junit(it) => FormatResult::Report(it.finish()),
            Format::Pairs(it) => {
                let (found, metrics) = it.finish();
                FormatResult::Pairs(found, metrics)
            }
        }
    }
}
