//! Reads Python's unittest. Without `-v` it names the failing tests only and counts the others; with
//! it, every test has a line, whose outcome may follow what the test printed. Python before 3.11
//! writes `test_add (module.Class)`, later ones `test_add (module.Class.test_add)`: the id is the
//! dotted path. An expected failure counts as skipped, because it demands nothing of the code.

use super::RunnerResult;
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::SummaryCounts;
use crate::proof::results::runner_lines::unittest::{
    UnittestEnd, conclusion, heading, is_fixture, is_rule, ran as ran_line,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut all = RunnerResult { complete: true, ..RunnerResult::default() };
    let mut session = UnittestSession::default();
    let mut ran = None;
    let mut any = false;
    let mut after_rule = false;
    for text in lines {
        if is_rule(text, '-') || is_rule(text, '=') {
            after_rule = is_rule(text, '-');
            session.in_failures |= is_rule(text, '=');
            continue;
        }
        // Without the rule above it, such a line was printed by a test.
        if let Some(number) = ran_line(text).filter(|_| after_rule) {
            ran = Some(number);
        } else if let (Some(number), Some(numbers)) = (ran, conclusion(text)) {
            let found = std::mem::take(&mut session).close(number, &numbers);
            all.tests.extend(found.tests);
            all.counts = all.counts.plus(found.counts);
            all.build_failed |= found.build_failed;
            (ran, any) = (None, true);
        } else {
            session.line(text);
        }
        after_rule = false;
    }
    any.then_some(all)
}

#[derive(Default)]
struct UnittestSession {
    listed: BTreeMap<String, TestOutcome>,
    failed: BTreeSet<String>,
    /// The test whose line has no outcome yet.
    open: Option<String>,
    import_failed: bool,
    /// Behind the first double rule: tracebacks, and what tests printed into a buffer.
    in_failures: bool,
}

impl UnittestSession {
    fn line(&mut self, text: &str) {
        if let Some(name) = heading(text).and_then(|(title, _)| dotted(title)) {
            self.import_failed |= name.contains("unittest.loader._FailedTest");
            self.failed.insert(name);
        } else if self.in_failures {
        } else if let Some((before, outcome)) = text.rsplit_once(" ... ") {
            // A docstring stands on a line of its own, after the name.
            let name = dotted(before).or_else(|| self.open.take());
            self.open = None;
            match (name, outcome_word(outcome)) {
                (Some(name), Some(outcome)) => drop(self.listed.insert(name, outcome)),
                (name, _) => self.open = name,
            }
        } else if let (Some(name), Some(outcome)) = (&self.open, outcome_word(text.trim())) {
            self.listed.insert(name.clone(), outcome);
            self.open = None;
        } else if let Some(name) = dotted(text.strip_suffix(" ... ").unwrap_or(text)) {
            self.open = Some(name);
        }
    }

    fn close(mut self, ran: u32, numbers: &UnittestEnd) -> RunnerResult {
        for name in &self.failed {
            self.listed.insert(name.clone(), TestOutcome::Failed);
        }
        let failed = (self.failed.len() as u32).max(u32::from(numbers.is_failure));
        let skipped = numbers.skipped;
        // Failures of class or module fixtures are not among the tests that ran.
        let fixtures = self.failed.iter().filter(|it| is_fixture(it)).count() as u32;
        let passed = (ran + fixtures).saturating_sub(failed).saturating_sub(skipped);
        let counts = SummaryCounts { passed, failed, skipped };
        let tests = self.listed.into_iter().collect();
        RunnerResult { tests, counts, complete: true, build_failed: self.import_failed }
    }
}

/// Reads `test_add (module.Class)` or `test_add (module.Class.test_add)` into the dotted path.
fn dotted(text: &str) -> Option<String> {
    let (method, rest) = text.trim_start().split_once(" (")?;
    let (path, _) = rest.split_once(')')?;
    let plain = |it: &str, more: &str| {
        !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || it == '_' || more.contains(it))
    };
    // A module that cannot be imported is named in place of a test, with its packages.
    let more = if path.starts_with("unittest.loader._FailedTest") { "." } else { "" };
    if !plain(method, more) || !plain(path, ".<>") || !path.contains('.') && method != "setUpModule" {
        return None;
    }
    let already = path.strip_suffix(method).is_some_and(|it| it.ends_with('.'));
    Some(if already { path.to_owned() } else { format!("{path}.{method}") })
}

fn outcome_word(text: &str) -> Option<TestOutcome> {
    match text {
        "ok" => Some(TestOutcome::Passed),
        "FAIL" | "ERROR" | "unexpected success" => Some(TestOutcome::Failed),
        "expected failure" => Some(TestOutcome::Skipped),
        _ if text.starts_with("skipped ") || text == "skipped" => Some(TestOutcome::Skipped),
        _ => None,
    }
}
