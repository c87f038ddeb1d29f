//! Steps that a tree does not need. Whoever has read both trees knows them, and a process of their own for each
//! would only find that out again.

use crate::measure::proof::pure::{CanaryOutcome, Direction, NotRun, OverlayPlan, ProofStep, plan_overlay};
use crate::measure::proof::request::{ProofError, StepResult};
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::steps::prover::Prover;

impl Prover {
    /// What E lays over the final tree.
    pub(crate) fn overlay_plan(&self, trees: &mut Trees) -> OverlayPlan {
        trees.rules.forget_missing_modules(&self.baseline_printed());
        plan(trees, Direction::BaseTestsOverFinal)
    }

    /// What F lays over the baseline.
    pub(crate) fn old_code_plan(&self, trees: &Trees) -> OverlayPlan {
        plan(trees, Direction::FinalTestsOverBase)
    }

    /// The result of E where the overlay is the final tree itself.
    pub(crate) fn unneeded_overlay(&self, key: &str, plan: &OverlayPlan) -> Option<StepResult> {
        plan.actions.is_empty().then(|| {
            let mut result = StepResult::not_run(ProofStep::Overlay, key.to_owned(), NotRun::NotNeeded);
            result.not_judged.clone_from(&plan.not_judged);
            result
        })
    }

    /// The result of F where no test text changed.
    pub(crate) fn unneeded_old_code(&self, key: &str, plan: &OverlayPlan) -> Option<StepResult> {
        let is_unneeded = plan.actions.is_empty() || !plan.touches_tests;
        is_unneeded.then(|| StepResult::not_run(ProofStep::OldCode, key.to_owned(), NotRun::NotNeeded))
    }

    /// The result of G where the baseline showed no canary.
    pub(crate) fn unneeded_canary(&self, key: &str, baseline: Option<&StepResult>) -> Option<StepResult> {
        let is_seen = |it: &StepResult| it.canary.values().any(|it| *it == CanaryOutcome::Seen);
        (!baseline.is_some_and(is_seen)).then(|| {
            let mut result = StepResult::not_run(ProofStep::Canary, key.to_owned(), NotRun::NotNeeded);
            result.canary = self.without_canaries();
            result
        })
    }

    /// Keeps the results of the steps that these trees do not need. G goes with E where there is one.
    pub(crate) fn keep_unneeded(&self, mut trees: Trees) -> Result<(), ProofError> {
        let key = |step| self.request.key(step);
        let old_code = self.unneeded_old_code(&key(ProofStep::OldCode), &self.old_code_plan(&trees));
        let plan = self.overlay_plan(&mut trees);
        let overlay = self.unneeded_overlay(&key(ProofStep::Overlay), &plan);
        let baseline = self.known(ProofStep::Baseline);
        let canary = match &overlay {
            Some(_) => self.unneeded_canary(&key(ProofStep::Canary), baseline.as_ref()),
            None => None,
        };
        for result in [overlay, old_code, canary].into_iter().flatten() {
            self.keep(&result)?;
        }
        Ok(())
    }
}

fn plan(trees: &Trees, direction: Direction) -> OverlayPlan {
    let contents = |side, path: &str| trees.contents(side, path);
    plan_overlay(&trees.changes, &trees.rules, &contents, direction)
}
