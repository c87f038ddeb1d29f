//! Reads `cargo test`: blocks of `running N tests` … `test result: …`, one for each target. An id is
//! the target's source file, its binary and the test's path; doc tests lose their line number, which
//! changes with every edit above them. Quiet output names the failing tests only. `cargo test` stops
//! at the first failing target: then the run is not complete, and so it is when a process died.

use super::RunnerResult;
use crate::proof::results::ids::TestOutcome;
use crate::proof::results::runner_lines::{SummaryCounts, libtest};

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
            block.tests.extend(block.listed.into_iter().map(|it| (it, TestOutcome::Failed)));
        }
        let target = &self.target;
        self.tests.extend(block.tests.into_iter().map(|(name, outcome)| (full_name(target, &name), outcome)));
    }

    /// The process of the open block ended without a result: what it did not report is unknown.
    fn die(&mut self) {
        let Some(block) = self.block.take() else { return };
        self.any = true;
        self.complete = false;
        self.counts = self.counts.plus(SummaryCounts::of(&block.tests));
        let target = &self.target;
        self.tests.extend(block.tests.into_iter().map(|(name, outcome)| (full_name(target, &name), outcome)));
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
                Some(name) => self.listed.push(without_line_number(name)),
                None if text.is_empty() => {}
                None => self.in_list = false,
            }
        } else if let Some((name, outcome)) = libtest::test(text) {
            self.tests.push((without_line_number(name), outcome));
        }
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

fn without_line_number(name: &str) -> String {
    match name.rsplit_once(" (line ") {
        Some((before, number)) if number.strip_suffix(')').is_some_and(|it| it.parse::<u32>().is_ok()) => {
            before.to_owned()
        }
        Some(_) | None => name.to_owned(),
    }
}
