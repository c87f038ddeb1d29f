//! A test that is red and green on the final tree, and was green on the baseline: was it made so, or was
//! it always so and had luck? The baseline is run a few times more, which costs nothing where no test
//! comes and goes.

use crate::measure::proof::pure::{ProofStep, Results, StepOutcome, became_flaky};
use crate::measure::proof::request::{ProofError, StepResult};
use crate::measure::proof::steps::prepared_checkout::results;
use crate::measure::proof::steps::prover::{ProvenTree, Prover};

/// A test that fails in half of its runs passes this often, and once before, in one of 32 cases.
const AGAIN: usize = 4;

impl Prover {
    /// Adds more attempts on the baseline to a step in which something came and went.
    pub(crate) fn told_from_flaky(
        &self,
        key: &str,
        mut result: StepResult,
    ) -> Result<StepResult, ProofError> {
        let StepOutcome::Ran(run) = &mut result.outcome else { return Ok(result) };
        let Some(baseline) = self.known(ProofStep::Baseline) else { return Ok(result) };
        let Some(mut before) = baseline.run().cloned() else { return Ok(result) };
        let step = result.step;
        let mut suspects = became_flaky(run, &before);
        if suspects.is_empty() {
            return Ok(result);
        }
        let mut site = self.site(step, key, &ProvenTree::base(&self.request))?;
        if site.prepare(&self.request)?.is_some() {
            return Ok(result);
        }
        for _ in 0..AGAIN {
            let others: Vec<String> = self.request.checks.iter().map(|it| it.name.clone()).collect();
            let others: Vec<String> = others.into_iter().filter(|it| !suspects.contains(it)).collect();
            let more: Vec<Results> = results(vec![site.checks(&self.request, &others)?]).concat();
            before.attempts.push(more.clone());
            run.baseline_again.push(more);
            suspects = became_flaky(run, &before);
            if suspects.is_empty() {
                break;
            }
        }
        Ok(result)
    }
}
