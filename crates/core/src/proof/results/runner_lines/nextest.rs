//! Lines of `cargo nextest run`.

use super::{amount_of, amounts, count};
use crate::proof::results::ids::TestOutcome;

/// What the `Summary` line says. `passed` is at most `ran`, and `ran` at most `planned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextestSummary {
    pub planned: u32,
    pub ran: u32,
    pub passed: u32,
    pub skipped: u32,
}

pub fn summary(text: &str) -> Option<NextestSummary> {
    let (_, text) = text.strip_prefix("     Summary [")?.split_once("] ")?;
    let (ran, outcomes) = text.split_once(" run: ")?;
    let (ran, _) = ran.split_once(" test")?;
    let (ran, planned) = ran.split_once('/').unwrap_or((ran, ran));
    let (ran, planned) = (count(ran)?, count(planned)?);
    let outcomes = without_parentheses(outcomes);
    let outcomes = amounts(&outcomes, ",")?;
    let (passed, skipped) = (amount_of(&outcomes, &["passed"]), amount_of(&outcomes, &["skipped"]));
    (passed <= ran && ran <= planned).then_some(NextestSummary { planned, ran, passed, skipped })
}

/// Takes out the remarks, as in `5 passed (1 slow, 1 flaky)`.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let keep = |it: &char| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(keep).collect()
}

/// Reads `        PASS [   0.006s] (2/6) shop tests::adds` into `shop tests::adds` and the outcome.
pub fn test(text: &str) -> Option<(&str, TestOutcome)> {
    let (status, rest) = text.strip_prefix("  ")?.trim_start().split_once(" [")?;
    let status = status.rsplit(' ').next().filter(|it| !it.contains('/')).unwrap_or(status);
    let outcome = match status {
        "PASS" | "LEAK" => TestOutcome::Passed,
        "FAIL" | "TIMEOUT" | "ABORT" | "XFAIL" | "LEAK-FAIL" | "FLKY-FL" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ if status.starts_with("FLAKY") => TestOutcome::Passed,
        _ if status.starts_with("SIG") => TestOutcome::Failed,
        _ => return None,
    };
    let (_, name) = rest.split_once("] ")?;
    let name = name.trim();
    Some((name.strip_prefix('(').and_then(|it| it.split_once(") ")).map_or(name, |(_, name)| name), outcome))
}
