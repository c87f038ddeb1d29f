//! Reads test ids from what a check printed and from the files that its runner wrote. There is one
//! file for each runner; each looks at the whole output, answers only if it finds the runner's own
//! summary, and several may answer, because one check may start several runners. A reader names
//! tests; where it names fewer than the runner's summary counts, the check is listed by failures.

mod go;
mod jest;
mod junit;
mod libtest;
mod lines;
mod mocha;
mod nextest;
mod node_spec;
mod pytest;
mod tap;
#[cfg(test)]
mod tests;
mod unittest;
mod vitest;

use crate::proof::results::count_format::CountFormat;
use crate::proof::results::environment::IdFile;
use crate::proof::results::ids::{Exit, IDS_LIMIT, NAME_LIMIT, NamedTests, Results, TestOutcome};
use crate::proof::results::runner_lines::SummaryCounts;
use std::collections::BTreeMap;

/// What one reader found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RunnerResult {
    tests: Vec<(String, TestOutcome)>,
    counts: SummaryCounts,
    complete: bool,
    build_failed: bool,
}

/// Reads the results of one run of one check. `output` is everything it printed, standard output
/// and error in the order of printing.
pub fn read_results(check: &str, exit: Exit, output: &str, files: &[IdFile]) -> Results {
    let lines = lines::plain(output);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut found: Vec<(CountFormat, RunnerResult)> = Vec::new();
    for format in CountFormat::ALL {
        found.extend(named_tests(format, &lines, files).into_iter().map(|it| (format, it)));
    }
    // nextest starts each test as a libtest process of its own and may show what that printed.
    if found.iter().any(|it| it.0 == CountFormat::Nextest) {
        found.retain(|it| it.0 != CountFormat::Cargo);
    }
    let found = found.into_iter().map(|it| it.1).collect();
    combine(check, exit, found)
}

/// What the runners of one format name. Every format that counts are read from has its answer here.
fn named_tests(format: CountFormat, lines: &[&str], files: &[IdFile]) -> Vec<RunnerResult> {
    let found = match format {
        // Nobody names a test in pairs, and every other format reads along anyway.
        CountFormat::Auto | CountFormat::KeyValue => [None, None],
        CountFormat::Cargo => [libtest::read(lines), None],
        CountFormat::Nextest => [nextest::read(lines), None],
        CountFormat::Pytest => [pytest::read(lines, files), None],
        CountFormat::Unittest => [unittest::read(lines), None],
        CountFormat::Jest => [jest::read(lines), None],
        CountFormat::Vitest => [vitest::read(lines), None],
        CountFormat::Mocha => [mocha::read(lines), None],
        CountFormat::Go => [go::read(lines), None],
        // node prints TAP for a program, and its own lines for a person.
        CountFormat::Tap => [tap::read(lines), node_spec::read(lines)],
        CountFormat::Junit => [junit::read_printed(lines), None],
    };
    found.into_iter().flatten().collect()
}

fn combine(check: &str, exit: Exit, found: Vec<RunnerResult>) -> Results {
    let mut results = Results::by_exit(check, exit);
    if found.is_empty() {
        return results;
    }
    let number = found.iter().map(|it| it.tests.len()).sum::<usize>();
    let all = found.iter().all(RunnerResult::names_every_test);
    for it in &found {
        results.passed = results.passed.saturating_add(it.counts.passed);
        results.failed = results.failed.saturating_add(it.counts.failed);
        results.skipped = results.skipped.saturating_add(it.counts.skipped);
        results.complete &= it.complete;
        results.build_failed |= it.build_failed;
    }
    results.listing = if all { NamedTests::All } else { NamedTests::Failures };
    if number > IDS_LIMIT {
        (results.listing, results.too_many) = (NamedTests::Failures, true);
        return results;
    }
    // Tests of the same name are told apart by their order, which runners keep.
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    for (name, outcome) in found.into_iter().flat_map(|it| it.tests) {
        let name = shortened(name);
        let time = times.entry(name.clone()).or_default();
        *time += 1;
        let name = if *time == 1 { name } else { format!("{name} ({time})") };
        results.ids.insert(name, outcome);
    }
    results
}

impl RunnerResult {
    fn names_every_test(&self) -> bool {
        // Some runners count what they skip without naming it; a test that is skipped and not named
        // is missing from the ids, which is noticed as well.
        let named = SummaryCounts::of(&self.tests);
        named.passed == self.counts.passed && named.failed == self.counts.failed
    }
}

impl SummaryCounts {
    fn of(tests: &[(String, TestOutcome)]) -> SummaryCounts {
        let mut counts = SummaryCounts::default();
        tests.iter().for_each(|(_, outcome)| counts.add(*outcome));
        counts
    }

    fn add(&mut self, outcome: TestOutcome) {
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Failed => self.failed += 1,
            TestOutcome::Skipped => self.skipped += 1,
        }
    }
}

/// Returns the tests that a session named one by one; where they do not add up to its summary, because the output
/// is short or torn, only those that it lists as failed.
fn named_or_failed(
    session: Vec<(String, TestOutcome)>,
    failures: impl IntoIterator<Item = String>,
    summary: SummaryCounts,
) -> Vec<(String, TestOutcome)> {
    if SummaryCounts::of(&session) == summary {
        return session;
    }
    failures.into_iter().map(|it| (it, TestOutcome::Failed)).collect()
}

fn shortened(mut name: String) -> String {
    if name.len() > NAME_LIMIT {
        let end = (0..=NAME_LIMIT).rev().find(|it| name.is_char_boundary(*it)).unwrap_or(0);
        name.truncate(end);
    }
    name
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
