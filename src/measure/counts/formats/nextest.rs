//! Reads `cargo nextest run`: the `Summary` line, and the failing tests listed after it. Of several
//! summaries in one run the last counts. What nextest did not start after a failure counts as
//! skipped, so that the total stays the same from run to run.

use crate::measure::counts::tally::{LogFinding, LogTally, Sum, amount_of, amounts, count};

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
        } else if let Some(tally) = read_summary(text) {
            self.started.get_or_insert(at);
            self.summary = Some((tally, at));
        } else if let (Some((tally, _)), Some(name)) = (&mut self.summary, failing_test(text)) {
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

fn read_summary(text: &str) -> Option<LogTally> {
    let (_, text) = text.strip_prefix("     Summary [")?.split_once("] ")?;
    let (ran, outcomes) = text.split_once(" run: ")?;
    let (ran, _) = ran.split_once(" test")?;
    let (ran, planned) = ran.split_once('/').unwrap_or((ran, ran));
    let (ran, planned) = (count(ran)?, count(planned)?);
    let outcomes = without_parentheses(outcomes);
    let outcomes = amounts(&outcomes, ",")?;
    let passing = amount_of(&outcomes, &["passed"]);
    Some(LogTally {
        passing,
        failing: ran.checked_sub(passing)?,
        skipped: amount_of(&outcomes, &["skipped"]) + planned.checked_sub(ran)?,
        ..LogTally::default()
    })
}

/// Takes out the remarks, as in `5 passed (1 slow, 1 flaky)`.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let mut keep = |it: &char| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(&mut keep).collect()
}

fn failing_test(text: &str) -> Option<&str> {
    let (status, rest) = text.trim_start().split_once(" [")?;
    let status = status.rsplit(' ').next()?;
    let fails = status.starts_with("SIG")
        || matches!(status, "FAIL" | "TIMEOUT" | "ABORT" | "XFAIL" | "LEAK-FAIL" | "FLKY-FL");
    let (_, rest) = rest.split_once("] ")?;
    let name = rest.strip_prefix('(').and_then(|it| it.split_once(") ")).map_or(rest, |(_, name)| name);
    fails.then_some(name)
}
