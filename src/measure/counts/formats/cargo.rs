//! Reads `cargo test`: blocks of `running N tests` … `test result: …`, one for each target and one
//! for the doc tests. A result counts only at the start of a line, after its `running` line, and
//! when its numbers add up to the number announced; the last such line of a block wins, because
//! what tests print comes before it. A block printed inside a block (a test that shows the output
//! of another cargo) is passed over. A target whose process died prints no result: what it did not
//! report as passed counts as failing, if cargo says that it failed.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::TestOutcome;
use loop_core::proof::runner_lines::libtest;

/// Blocks inside blocks that are followed; deeper ones are text.
const NESTING_LIMIT: usize = 8;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Cargo {
    sum: Sum,
    block: Option<CargoBlock>,
}

#[derive(Debug, Default)]
struct CargoBlock {
    first: u64,
    /// Announced numbers of tests: the block's own, then those of blocks printed inside it.
    announced: Vec<u32>,
    result: Option<(LogTally, u64)>,
    listed: Option<FailedNames>,
    seen: LogTally,
    died: Option<u64>,
}

impl Cargo {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if let Some(number) = libtest::announcement(text) {
            self.announce(at, number);
            return;
        }
        let Some(block) = &mut self.block else { return };
        if is_between_targets(text) {
            block.died = Some(at);
        } else if let Some(result) = text.strip_prefix("test result: ") {
            block.conclude(at, result);
        } else if libtest::lists_failures(text) {
            block.listed = Some(FailedNames::default());
        } else if let (Some(names), Some(name)) = (&mut block.listed, text.strip_prefix("    ")) {
            if !name.starts_with(' ') {
                names.insert(name);
            }
        } else if let Some((name, outcome)) = libtest::test(text) {
            block.see(name, outcome);
        }
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        self.sum.finish()
    }

    fn announce(&mut self, at: u64, number: u32) {
        match &mut self.block {
            Some(block) if block.result.is_none() && block.died.is_none() => {
                if block.announced.len() < NESTING_LIMIT {
                    block.announced.push(number);
                }
            }
            Some(_) | None => {
                self.close();
                self.block = Some(CargoBlock { first: at, announced: vec![number], ..CargoBlock::default() });
            }
        }
    }

    fn close(&mut self) {
        let Some(block) = self.block.take() else { return };
        match (block.result, block.died) {
            (Some((tally, last)), _) => self.sum.add(&tally, block.first, last),
            (None, Some(last)) => {
                let mut tally = block.seen;
                let reported = tally.passing.saturating_add(tally.skipped);
                tally.failing = block.announced[0].saturating_sub(reported).max(1);
                self.sum.add(&tally, block.first, last);
            }
            (None, None) => {}
        }
    }
}

impl CargoBlock {
    fn conclude(&mut self, at: u64, result: &str) {
        let Some((counts, is_ok)) = libtest::result(result) else { return };
        if is_ok != (counts.failed == 0) {
            return;
        }
        let (mut tally, number) = (LogTally::from(counts), counts.total());
        match self.announced.iter().rposition(|it| *it == number) {
            None => {}
            Some(0) => {
                let listed = self.listed.take().unwrap_or_default();
                listed.iter().take(tally.failing as usize).for_each(|it| tally.failed.insert(it));
                self.announced.truncate(1);
                self.result = Some((tally, at));
            }
            Some(inner) => self.announced.truncate(inner),
        }
    }

    fn see(&mut self, name: &str, outcome: TestOutcome) {
        match outcome {
            TestOutcome::Passed => self.seen.passing += 1,
            TestOutcome::Failed => self.seen.failed.insert(name),
            TestOutcome::Skipped => self.seen.skipped += 1,
        }
    }
}

/// What cargo itself says on its standard error.
fn is_between_targets(text: &str) -> bool {
    text.starts_with("     Running ") || text.starts_with("   Doc-tests ") || libtest::is_failed_target(text)
}
