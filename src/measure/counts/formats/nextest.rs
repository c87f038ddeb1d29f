//! Reads `cargo nextest run`: the `Summary` line, and the failing tests listed after it. Of several
//! summaries in one run the last counts. What nextest did not start after a failure counts as
//! skipped, so that the total stays the same from run to run.

use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::TestOutcome;
use loop_core::proof::runner_lines::nextest;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Nextest {
    sum: Sum,
    started: Option<u64>,
    summary: Option<(LogTally, u64)>,
}

impl Nextest {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        if is_start(text) {
            self.close();
            self.started = Some(at);
        } else if let Some(found) = nextest::summary(text) {
            self.started.get_or_insert(at);
            let tally = LogTally {
                passing: found.passed,
                failing: found.ran - found.passed,
                skipped: found.skipped.saturating_add(found.planned - found.ran),
                failed: FailedNames::default(),
            };
            self.summary = Some((tally, at));
        } else if let (Some((tally, _)), Some((name, TestOutcome::Failed))) =
            (&mut self.summary, nextest::test(text))
        {
            tally.failed.insert(name);
        }
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        self.sum.finish()
    }

    fn close(&mut self) {
        let started = self.started.take();
        if let (Some((tally, last)), Some(first)) = (self.summary.take(), started) {
            self.sum.add(&tally, first, last);
        }
    }
}

fn is_start(text: &str) -> bool {
    text.strip_prefix("    Starting ").is_some_and(|it| it.contains(" test") && it.contains(" across "))
}
