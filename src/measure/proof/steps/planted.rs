//! Results that an agent wrote in place of a prover. They lie below the home under names that can be worked
//! out, and what is known is not proven again. So a result counts only if its file was last changed while no
//! agent of the run was at work: no user can set that time. Agents work beside A0, which is compared with
//! what the same checks showed in place before the first call.

use crate::clock::now;
use crate::measure::proof::pure::ProofStep;
use crate::measure::proof::request::{ProofError, StepResult};
use crate::measure::proof::steps::prover::Prover;
use loop_core::engine::{CheckOutcome, CheckResult, Tests};
use loop_core::proof::{Exit, Results};
use std::os::unix::fs::MetadataExt;

impl Prover {
    /// Makes a step one that was not taken, where an agent may have written what it brought. `opened_with` is
    /// what the checks showed before the first call.
    pub(crate) fn forget_planted(
        &self,
        step: ProofStep,
        opened_with: &[CheckResult],
    ) -> Result<(), ProofError> {
        let Some(known) = self.known(step) else { return Ok(()) };
        let is_doubtful = step != ProofStep::Baseline || contradicts(&known, opened_with);
        if is_doubtful && self.was_written_beside_agents(step) {
            self.forget(step)?;
        }
        Ok(())
    }

    /// Whether the file of the result was changed before the run was opened, or while an agent of it worked.
    fn was_written_beside_agents(&self, step: ProofStep) -> bool {
        let file = self.folders.result(&self.request.key(step));
        let (Some(opened), Ok(meta)) = (self.request.opened_at_ms, file.symlink_metadata()) else {
            return false;
        };
        let changed = meta.ctime() * 1000 + meta.ctime_nsec() / 1_000_000;
        // A session works for as long as it lives, beside its own proof.
        let ended = self.request.agent_times.iter().filter(|it| it.1 < now().0);
        changed < opened || ended.into_iter().any(|(from, to)| *from < changed && changed <= *to)
    }
}

/// Whether a check has another outcome, or other numbers, than the same check had in place.
fn contradicts(known: &StepResult, opened_with: &[CheckResult]) -> bool {
    let Some(results) = known.run().and_then(|it| it.attempts.first()) else { return false };
    results.iter().any(|it| {
        let same = opened_with.iter().find(|opened| opened.name == it.check);
        same.is_some_and(|opened| is_other(it, opened))
    })
}

fn is_other(clean: &Results, in_place: &CheckResult) -> bool {
    let exit = match in_place.outcome {
        CheckOutcome::Skipped => return false,
        CheckOutcome::Passed | CheckOutcome::Failed(_) => Exit::from_code(in_place.exit),
    };
    let has_other_numbers = |it: &Tests| (it.passing, it.failing) != (clean.passed, clean.failed);
    exit != clean.exit || in_place.counts.as_ref().is_some_and(has_other_numbers)
}
