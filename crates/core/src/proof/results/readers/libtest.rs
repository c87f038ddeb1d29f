//! Reads `cargo test`: blocks of `running N tests` … `test result: …`, one for each target. An id is
//! the target's source file, its binary and the test's path; doc tests lose their line number, which
//! changes with every edit above them. Quiet output names the failing tests only. `cargo test` stops
//! at the first failing target: then the run is not complete, and so it is when a process died.

use super::RunnerResult;
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::{SummaryCounts, libtest};
use std::cmp::Ordering;

pub(super) fn read(lines: &[&str]) -> Option<RunnerResult> {
    let mut reader = LibtestReader { complete: true, ..LibtestReader::default() };
    lines.iter().for_each(|it| reader.line(it));
    reader.finish()
}

#[derive(Default)]
struct LibtestReader {
    tests: Vec<(String, TestOutcome)>,
    counts: SummaryCounts,
    target: String,
    block: Option<OutputBlock>,
    any: bool,
    complete: bool,
    build_failed: bool,
    failed_targets: u32,
    went_on: bool,
}

#[derive(Default)]
struct OutputBlock {
    announced: u32,
    tests: Vec<(String, TestOutcome)>,
    /// The names under the last `failures:` heading.
    listed: Vec<String>,
    in_list: bool,
}

impl LibtestReader {
    fn line(&mut self, text: &str) {
        if let Some(target) = target_line(text) {
            self.die();
            self.target = target;
        } else if let Some(announced) = libtest::announcement(text) {
            // A block inside a block is printed by a test; the outer one is still open.
            if self.block.is_none() {
                self.block = Some(OutputBlock { announced, ..OutputBlock::default() });
            }
        } else if libtest::is_failed_target(text) {
            self.die();
            self.failed_targets += 1;
        } else if is_build_error(text) {
            self.build_failed = true;
        } else if text.starts_with("error: ") && text.ends_with(':') && text.contains(" target") {
            self.went_on = true;
        } else if let Some(block) = &mut self.block {
            if let Some((counts, _)) = text.strip_prefix("test result: ").and_then(libtest::result) {
                if counts.total() == block.announced {
                    self.close(counts);
                }
            } else {
                block.line(text);
            }
        }
    }

    fn close(&mut self, counts: SummaryCounts) {
        let Some(mut block) = self.block.take() else { return };
        self.any = true;
        self.counts = self.counts.plus(counts);
        if SummaryCounts::of(&block.tests) != counts {
            // Quiet, or lines torn by what the tests printed: the failures are listed by name.
            block.tests.retain(|(_, outcome)| *outcome != TestOutcome::Failed);
            block.tests.retain(|(name, _)| !block.listed.contains(name));
            let listed = std::mem::take(&mut block.listed);
            block.tests.extend(listed.into_iter().map(|it| (it, TestOutcome::Failed)));
        }
        self.tests.extend(block.named(&self.target));
    }

    /// The process of the open block ended without a result: what it did not report is unknown.
    fn die(&mut self) {
        let Some(block) = self.block.take() else { return };
        self.any = true;
        self.complete = false;
        self.counts = self.counts.plus(SummaryCounts::of(&block.tests));
        self.tests.extend(block.named(&self.target));
    }

    fn finish(mut self) -> Option<RunnerResult> {
        self.die();
        let stopped = self.failed_targets > 0 && !self.went_on;
        let complete = self.complete && !self.build_failed && !stopped;
        let found = RunnerResult {
            tests: self.tests,
            counts: self.counts,
            complete,
            build_failed: self.build_failed,
        };
        (self.any || self.build_failed).then_some(found)
    }
}

impl OutputBlock {
    fn line(&mut self, text: &str) {
        if libtest::lists_failures(text) {
            (self.in_list, self.listed) = (true, Vec::new());
        } else if self.in_list {
            match text.strip_prefix("    ").filter(|it| !it.starts_with(' ')) {
                Some(name) => self.listed.push(name.to_owned()),
                None if text.is_empty() => {}
                None => self.in_list = false,
            }
        } else if let Some((name, outcome)) = libtest::test(text) {
            self.tests.push((name.to_owned(), outcome));
        }
    }

    /// Returns the tests with their full names. Doc tests of one item differ in their line only, and are printed as
    /// they end, so they are put in the order of their lines.
    fn named(mut self, target: &str) -> impl Iterator<Item = (String, TestOutcome)> {
        self.tests.sort_by(|left, right| match (line_number(&left.0), line_number(&right.0)) {
            (Some((left, one)), Some((right, other))) => (left, one).cmp(&(right, other)),
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (None, None) => Ordering::Equal,
        });
        let full = move |name: &str| full_name(target, line_number(name).map_or(name, |it| it.0));
        self.tests.into_iter().map(move |(name, outcome)| (full(&name), outcome))
    }
}

fn full_name(target: &str, name: &str) -> String {
    match target.strip_prefix("doc ") {
        Some(package) => format!("{name} (doc test of {package})"),
        None if target.is_empty() => name.to_owned(),
        None => format!("{target}::{name}"),
    }
}

/// Reads `Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)` into
/// `src/lib.rs calc`, and `Doc-tests calc` into `doc calc`.
fn target_line(text: &str) -> Option<String> {
    let trimmed = text.trim_start();
    if trimmed.len() + 3 > text.len() {
        return None;
    }
    if let Some(package) = trimmed.strip_prefix("Doc-tests ") {
        return Some(format!("doc {package}"));
    }
    let running = trimmed.strip_prefix("Running ")?;
    let (source, binary) = match running.split_once(" (") {
        Some((source, binary)) => (source, binary.strip_suffix(')')?),
        None => ("", running.strip_prefix('`')?.split(['`', ' ']).next()?),
    };
    let source = source.strip_prefix("unittests ").unwrap_or(source);
    let binary = binary.rsplit(['/', '\\']).next()?;
    let binary = binary.strip_suffix(".exe").unwrap_or(binary);
    let name = binary.rsplit_once('-').map_or(binary, |(name, _)| name);
    Some(format!("{source} {name}").trim_start().to_owned())
}

fn is_build_error(text: &str) -> bool {
    let starts = [
        "error: could not compile",
        "error: failed to ",
        "error: no matching package",
        "error: no test target",
        "error: couldn't ",
        "error: can't find",
    ];
    starts.iter().any(|it| text.starts_with(it))
}

/// Divides the name of a doc test into the item that it documents and its line.
fn line_number(name: &str) -> Option<(&str, u32)> {
    let (item, number) = name.rsplit_once(" (line ")?;
    Some((item, number.strip_suffix(')')?.parse().ok()?))
}
