//! Reads the `spec` reporter of node's test runner: ticks and crosses, indented by suite, up to the
//! `ℹ tests N` summary; what follows it repeats the failures.

use super::{RunnerResult, indentation};
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::SummaryCounts;
use crate::proof::results::runner_lines::node::{self, NodeTotal};

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = NodeSpecReader { complete: true, ..NodeSpecReader::default() };
    lines.iter().for_each(|it| reader.line(it));
    reader.any.then_some(RunnerResult {
        tests: reader.tests,
        counts: reader.counts,
        complete: reader.complete && !reader.build_failed,
        build_failed: reader.build_failed,
    })
}

#[derive(Default)]
struct NodeSpecReader {
    tests: Vec<(String, TestOutcome)>,
    session: Vec<(String, TestOutcome)>,
    open: Vec<(usize, String)>,
    counts: SummaryCounts,
    /// Whole files among the tests: they stand in node's numbers and are no tests.
    files: SummaryCounts,
    /// Lines that close a suite, or a test with subtests.
    parents: u32,
    any: bool,
    repeats: bool,
    complete: bool,
    build_failed: bool,
}

impl NodeSpecReader {
    fn line(&mut self, text: &str) {
        let depth = indentation(text);
        let line = &text[depth..];
        if let Some((NodeTotal::Tests, number)) = node::spec_total(line) {
            self.any = true;
            self.repeats = true;
            let (files, session) = (std::mem::take(&mut self.files), std::mem::take(&mut self.session));
            self.open.clear();
            let mut counts = SummaryCounts::of(&session);
            // Node counts a test with subtests, whose line looks like that of a suite. If more names
            // are missing, something printed tore the lines.
            let missing = number.saturating_sub(counts.plus(files).total());
            if missing > std::mem::take(&mut self.parents) {
                counts.passed += missing;
            }
            self.counts = self.counts.plus(counts);
            self.tests.extend(session);
        } else if let Some((NodeTotal::Cancelled, number)) = node::spec_total(line) {
            self.complete &= number == 0;
        } else if let Some(title) = node::suite(line) {
            self.repeats = false;
            self.open.retain(|(it, _)| *it < depth);
            self.open.push((depth, title.to_owned()));
        } else if node::repeats_failures(line) {
            self.repeats = true;
        } else if let Some((title, outcome)) = node::test(line) {
            self.test(depth, title, outcome);
        }
    }

    fn test(&mut self, depth: usize, title: &str, outcome: TestOutcome) {
        // After a summary a cross repeats a failure; a tick belongs to the next session.
        if self.repeats && outcome == TestOutcome::Failed {
            return;
        }
        self.repeats = false;
        let is_suite = self.open.iter().any(|(it, open)| *it == depth && open == title);
        self.open.retain(|(it, _)| *it < depth);
        if is_suite {
            self.parents += 1;
            return;
        }
        if title.starts_with('/') || (title.contains('/') && title.ends_with("js")) {
            self.build_failed |= outcome == TestOutcome::Failed;
            self.files.add(outcome);
            return;
        }
        let mut name = String::new();
        for (_, title) in &self.open {
            name.push_str(title);
            name.push_str(" > ");
        }
        name.push_str(title);
        self.session.push((name, outcome));
    }
}
