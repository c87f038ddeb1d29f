//! What is red on a merged tree. The branch was green by itself, so a check that fails where it was merged
//! with what others have landed says that the two do not go together, also where the target fails too.

use crate::proof::record::steps::{Settled, StepOutcome, settled};
use crate::proof::results::ids::{Exit, Results, TestOutcome};

/// Tests that are named for each check.
const TESTS_NAMED: usize = 10;

/// Returns what fails on the merged tree and did not fail on the branch, a line for each check; nothing where
/// the merged tree holds.
pub fn red_on_merge(merged: &StepOutcome, branch: Option<&StepOutcome>) -> Vec<String> {
    let StepOutcome::Ran(run) = merged else { return Vec::new() };
    let merged = settled(run);
    let branch = match branch {
        Some(StepOutcome::Ran(run)) => Some(settled(run)),
        Some(StepOutcome::NotRun(_)) | None => None,
    };
    merged.results.iter().filter_map(|it| red(it, &merged, branch.as_ref())).collect()
}

fn red(check: &Results, merged: &Settled, branch: Option<&Settled>) -> Option<String> {
    if check.exit == Exit::Green {
        return None;
    }
    let before = branch.and_then(|it| it.check(&check.check));
    let was_red = |name: &str| before.is_some_and(|it| it.outcome(name) == Some(TestOutcome::Failed));
    let is_flaky = |name: &str| merged.flaky.contains(&check.id(name));
    let failed: Vec<&str> = check.names(TestOutcome::Failed).collect();
    let fresh: Vec<&str> = failed.iter().filter(|it| !was_red(it) && !is_flaky(it)).copied().collect();
    // Nothing but what failed on the branch too, or fails now and then.
    if fresh.is_empty() && !failed.is_empty() {
        return None;
    }
    if fresh.is_empty() && before.is_some_and(|it| it.exit != Exit::Green) {
        return None;
    }
    let how = match check.exit {
        Exit::Green | Exit::Red => "fails",
        Exit::NotStarted => "cannot be started",
        Exit::Interrupted => "was ended early",
    };
    let more = fresh.len().saturating_sub(TESTS_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let named = fresh.iter().take(TESTS_NAMED).copied().collect::<Vec<_>>().join(", ");
    let named = if named.is_empty() { String::new() } else { format!(": {named}{more}") };
    Some(format!("the check \"{}\" {how} on the merged tree{named}", check.check))
}
