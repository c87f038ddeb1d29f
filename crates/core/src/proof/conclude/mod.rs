//! Turns the results of the steps into a proof. Each check is compared with itself on the baseline:
//! first in the clean checkout (what became red or skipped), then in the overlay (what fails with its
//! original text, what is gone), then on the old code (what a new test shows). What is red on the
//! baseline and on the final tree says nothing, and what is flaky counts for nothing.

mod evidence;
mod final_tree;
mod judge;
pub(super) mod locate;
pub(super) mod merged;
mod new_tests;
mod original_tests;
mod red_to_green;
mod summary;
#[cfg(test)]
mod tests;

pub use evidence::ProofEvidence;

use crate::proof::defence::Defence;
use crate::proof::record::finding::{Finding, FindingKind};
use crate::proof::record::proof_record::Proof;
use crate::proof::record::steps::{CanaryOutcome, ProofStep, Settled, StepOutcome, settled};
use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};
use evidence::defended;
use judge::{CheckSteps, Judge};

pub fn conclude(evidence: &ProofEvidence) -> Proof {
    let evidence = &defended(evidence.clone());
    let mut judge = Judge::new(evidence);
    for it in &evidence.not_judged {
        let what = format!("changed and could not be judged: {}", it.why);
        judge.find(Finding::of_file(FindingKind::NotJudged, ProofStep::Overlay, &it.path, &what));
    }
    for path in &evidence.changed_tools {
        let what = "changed since the run began, and the checks run with it, so they show nothing: take the \
                    change back, or begin again with it";
        judge.find(Finding::of_file(FindingKind::Touched, ProofStep::Clean, path, what));
    }
    for check in judge.check_names() {
        judge.check(&check);
    }
    if Defence::Ratchet.is_on() {
        judge.judge_flaky();
    }
    judge.proof().bounded()
}

impl Judge<'_> {
    fn check(&mut self, name: &str) {
        let of = |step: &Option<Settled>| step.as_ref().and_then(|it| it.check(name)).cloned();
        let Some(clean) = of(&self.clean) else { return };
        let check = CheckSteps { name, before: of(&self.baseline), clean, overlay: of(&self.overlay) };
        self.judge_clean(&check);
        self.judge_overlay(&check);
        if Defence::Ratchet.is_on() {
            self.judge_gone(&check);
        }
        self.judge_line(&check);
        self.judge_red_to_green(&check);
        self.judge_new_tests(&check);
        self.count_green(&check);
        // A program that fails with the original tests does not get to its end.
        let is_red = |it: &Results| it.listing == NamedTests::Nothing && it.exit == Exit::Red;
        let has_ended = !is_red(&check.clean) && !check.overlay.as_ref().is_some_and(is_red);
        if has_ended && self.evidence.canary.get(name) == Some(&CanaryOutcome::Unseen) {
            let what = match check.clean.listing {
                NamedTests::Nothing => {
                    "did not report the canary, a statement at the end of a test program that must fail: the \
                     program ends before it, or its failures are not reported"
                }
                NamedTests::All | NamedTests::Failures => {
                    "did not report the canary, a test that must fail, which it reported on the baseline"
                }
            };
            self.find_check(FindingKind::CanaryUnseen, ProofStep::Canary, name, what);
        }
        self.judge_canary_run(&check);
    }

    /// The run with canaries has the same tree, so that code which behaves otherwise there tells runs apart.
    fn judge_canary_run(&mut self, check: &CheckSteps<'_>) {
        let Some(results) = self.canary_run.as_ref().and_then(|it| it.check(check.name)).cloned() else {
            return;
        };
        for name in results.names(TestOutcome::Failed) {
            let id = results.id(name);
            if check.clean.outcome(name) == Some(TestOutcome::Passed) && !self.is_flaky(&id) {
                self.red = true;
                let what = "passes in a clean checkout, and fails on the same tree in the run with tests that \
                            must fail";
                self.find_test(FindingKind::RedInClean, ProofStep::Canary, &id, what);
            }
        }
    }

    /// Tests that were written first must pass with the text that they had then.
    fn judge_line(&mut self, check: &CheckSteps<'_>) {
        let StepOutcome::Ran(run) = &self.evidence.protected_line else { return };
        let settled = settled(run);
        let Some(line) = settled.check(check.name) else { return };
        let changed: Vec<TestId> = line
            .names(TestOutcome::Failed)
            .filter(|name| check.clean.outcome(name) != Some(TestOutcome::Failed))
            .map(|name| line.id(name))
            .collect();
        let what = "fails with the text that it had when the tests were written first";
        if changed.is_empty() && line.exit == Exit::Red && check.clean.exit == Exit::Green {
            self.find(Finding::of_check(FindingKind::RedInOverlay, ProofStep::Overlay, check.name, what));
        }
        for id in changed.iter().filter(|it| !settled.flaky.contains(it)) {
            self.find_test(FindingKind::ChangedTest, ProofStep::Overlay, id, what);
        }
    }
}
