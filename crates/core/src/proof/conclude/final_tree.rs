//! The final tree in its clean checkout against the baseline in its own: what became red, is skipped,
//! comes and goes, or does not run at all.

use super::judge::{CheckSteps, Judge, SUSPECTS_MOST};
use crate::proof::defence::Defence;
use crate::proof::record::finding::{Finding, FindingKind};
use crate::proof::record::proof_record::Unreproducible;
use crate::proof::record::steps::{ProofStep, flaky_since};
use crate::proof::results::ids::{Exit, Results, TestId, TestOutcome};

impl Judge<'_> {
    /// D against A0: what became red or skipped in the clean checkout.
    pub(super) fn judge_clean(&mut self, check: &CheckSteps<'_>) {
        let in_place = self.evidence.in_place.iter().find(|it| it.check == check.name);
        let is_green_here = |name: &str| match in_place {
            Some(results) if name.is_empty() => results.exit == Exit::Green,
            Some(results) => results.outcome(name) != Some(TestOutcome::Failed),
            None => true,
        };
        let unreproducible = |id: TestId| {
            let why = match is_green_here(&id.name) {
                true => "fails in a clean checkout of the baseline too",
                false => "failed before the run and fails now",
            };
            Unreproducible { id, why: why.to_owned() }
        };
        // Red at the opening, here and in a clean checkout, and green here only: what made it green is
        // not in the tree.
        let opening = self.evidence.opening.iter().find(|it| it.check == check.name);
        let was_red = |name: &str| match opening {
            Some(results) if name.is_empty() => results.exit == Exit::Red,
            Some(results) => results.outcome(name) == Some(TestOutcome::Failed),
            None => false,
        };
        let is_green_only_here = |name: &str| was_red(name) && in_place.is_some() && is_green_here(name);
        let only_here = "passes in place and fails in a clean checkout, as it did before the run: what makes it \
                         pass is not in the tree";
        let before = check.before.as_ref();
        for name in check.clean.names(TestOutcome::Failed) {
            let id = check.clean.id(name);
            match before.and_then(|it| it.outcome(name)) {
                Some(TestOutcome::Failed) if is_green_only_here(name) => {
                    self.red = true;
                    self.find_test(FindingKind::RedInClean, ProofStep::Clean, &id, only_here);
                }
                Some(TestOutcome::Failed) => self.not_reproducible.push(unreproducible(id)),
                Some(TestOutcome::Passed | TestOutcome::Skipped) | None => {
                    self.red = true;
                    self.find_test(
                        FindingKind::RedInClean,
                        ProofStep::Clean,
                        &id,
                        "fails in a clean checkout",
                    );
                }
            }
        }
        self.judge_not_run(check);
        let explained = check.clean.names(TestOutcome::Failed).next().is_some();
        let same_before = before.is_some_and(|it| it.exit == check.clean.exit && !explains_red(it));
        match check.clean.exit {
            Exit::Green => {}
            Exit::Red | Exit::NotStarted if explained => {}
            Exit::Red if same_before && is_green_only_here("") => {
                self.red = true;
                let what = format!("{only_here}{}", self.left_out(FindingKind::RedInClean));
                self.find_check(FindingKind::RedInClean, ProofStep::Clean, check.name, &what);
            }
            Exit::Red | Exit::NotStarted if same_before => {
                self.not_reproducible.push(unreproducible(TestId::exit(check.name)));
            }
            Exit::Red | Exit::NotStarted | Exit::Interrupted => {
                self.red = true;
                let what = match check.clean.exit {
                    Exit::NotStarted => "could not start in a clean checkout",
                    Exit::Interrupted => "did not end in a clean checkout",
                    Exit::Green | Exit::Red => "is red in a clean checkout",
                };
                let not_run = before.map(|it| tests_not_run(it, &check.clean)).unwrap_or_default();
                let what = format!("{what}{not_run}{}", self.left_out(FindingKind::RedInClean));
                self.find(Finding::of_check(FindingKind::RedInClean, ProofStep::Clean, check.name, &what));
            }
        }
    }

    /// Tests that ran at the opening must run in a clean checkout too.
    fn judge_not_run(&mut self, check: &CheckSteps<'_>) {
        let before = check.before.as_ref();
        for name in check.clean.names(TestOutcome::Skipped).filter(|_| Defence::Ratchet.is_on()) {
            let what = match before.and_then(|it| it.outcome(name)) {
                Some(TestOutcome::Passed) => "passed before the run and is skipped now",
                Some(TestOutcome::Failed) => "failed before the run and is skipped now",
                Some(TestOutcome::Skipped) | None => continue,
            };
            self.find_test(FindingKind::Skipped, ProofStep::Clean, &check.clean.id(name), what);
        }
        let ran_before = before.and_then(Results::executed).unwrap_or(0);
        if Defence::Ratchet.is_on()
            && ran_before > 0
            && check.clean.executed().unwrap_or(0) == 0
            && check.clean.exit == Exit::Green
        {
            let missing = before.map(missing_tests).unwrap_or_default();
            let what = format!("ran 0 tests in a clean checkout, {ran_before} on the baseline{missing}");
            self.find_check(FindingKind::NoTestsRan, ProofStep::Clean, check.name, &what);
        }
    }

    /// A test that passed each time at the opening must not come and go now.
    pub(super) fn judge_flaky(&mut self) {
        let Some(before) = self.baseline.clone() else { return };
        let overlay = self.overlay.clone().filter(|_| !self.overlay_is_clean);
        for (step, settled) in [(ProofStep::Clean, self.clean.clone()), (ProofStep::Overlay, overlay)] {
            for id in settled.iter().flat_map(|it| flaky_since(it, &before)) {
                let what = "passed before the run, and passes and fails on the same tree now";
                self.find_test(FindingKind::Flaky, step, &id, what);
            }
        }
    }
}

/// The tests that a run without any leaves out, those that failed first.
fn missing_tests(before: &Results) -> String {
    let all: Vec<&str> = before.names(TestOutcome::Failed).chain(before.names(TestOutcome::Passed)).collect();
    if all.is_empty() { String::new() } else { format!(": {}", listed(&all)) }
}

/// The tests that ran at the opening and that a red check says nothing of: a test file that cannot be
/// loaded names none of its tests.
fn tests_not_run(before: &Results, now: &Results) -> String {
    let all = before.names(TestOutcome::Failed).chain(before.names(TestOutcome::Passed));
    let unseen: Vec<&str> = all.filter(|it| !it.is_empty() && now.outcome(it).is_none()).collect();
    if unseen.is_empty() {
        String::new()
    } else {
        format!("; tests that did not run there: {}", listed(&unseen))
    }
}

fn listed(tests: &[&str]) -> String {
    match tests.len().saturating_sub(SUSPECTS_MOST) {
        0 => tests.join(", "),
        more => format!("{} and {more} more", tests[..SUSPECTS_MOST].join(", ")),
    }
}

/// Tells whether a failing test says why the check is red.
fn explains_red(results: &Results) -> bool {
    results.names(TestOutcome::Failed).next().is_some()
}
