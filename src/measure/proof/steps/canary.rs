//! Step G, and the canaries of the other steps: tests that must fail are put into the test files of a
//! checkout, and a check that does not report them does not report failures.

use crate::measure::proof::pure::{
    CanaryOutcome, NotRun, ProofStep, StepRun, canaries_reported, canary_seen, without_canary,
};
use crate::measure::proof::request::{ProofError, StepResult};
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::steps::planned_canaries::planned_canaries;
use crate::measure::proof::steps::prepared_checkout::PreparedCheckout;
use crate::measure::proof::steps::prepared_checkout::results;
use crate::measure::proof::steps::prover::{ProvenTree, Prover};
use crate::measure::proof::steps::session::Ran;

impl Prover {
    /// Runs the checks with canaries, notes what became of each, and returns the results as they would
    /// be without.
    pub(crate) fn plant(
        &self,
        site: &mut PreparedCheckout,
        trees: &Trees<'_>,
        baseline: Option<&StepResult>,
    ) -> Result<Vec<Ran>, ProofError> {
        let Some(baseline) = baseline.filter(|it| it.canary.values().any(|it| *it == CanaryOutcome::Seen))
        else {
            let outcomes =
                self.request.checks.iter().map(|it| (it.name.clone(), CanaryOutcome::NotOnBaseline));
            site.result.canary = outcomes.collect();
            return Ok(Vec::new());
        };
        let word = &baseline.canary_word;
        let planned = planned_canaries(trees, &site.session.checkout.path, word);
        let mut plain = Vec::new();
        let request = trees.with_canary_commands(&self.request, word);
        for (check, ran) in site.with_canaries(&request, &planned, trees)? {
            let was_seen = baseline.canary.get(&check) == Some(&CanaryOutcome::Seen);
            let is_seen = canary_seen(&ran.results, &ran.output, word);
            let outcome = match (was_seen, is_seen) {
                (false, _) => CanaryOutcome::NotOnBaseline,
                (true, true) => CanaryOutcome::Seen,
                (true, false) => CanaryOutcome::Unseen,
            };
            // Whoever stopped at the first canary did not get to the other tests.
            let went_on = request == self.request
                && !planned.is_empty()
                && planned.len() <= canaries_reported(&ran.results, word);
            if outcome == CanaryOutcome::Seen && went_on {
                plain.push(Ran { results: without_canary(&ran.results, word), output: ran.output });
            }
            site.result.canary.insert(check, outcome);
        }
        Ok(plain)
    }

    /// G by itself, where E was not needed: the final tree is its own overlay.
    pub(crate) fn canary(&self, key: &str) -> Result<StepResult, ProofError> {
        if let Some(overlay) = self.known(ProofStep::Overlay).filter(|it| !it.canary.is_empty()) {
            return Ok(StepResult { step: ProofStep::Canary, key: key.to_owned(), ..overlay });
        }
        let trees = Trees::read(&self.repository, &self.request)?;
        let baseline = self.known(ProofStep::Baseline);
        if !baseline.as_ref().is_some_and(|it| it.canary.values().any(|it| *it == CanaryOutcome::Seen)) {
            let mut result = StepResult::not_run(ProofStep::Canary, key.to_owned(), NotRun::NotNeeded);
            result.canary = self
                .request
                .checks
                .iter()
                .map(|it| (it.name.clone(), CanaryOutcome::NotOnBaseline))
                .collect();
            return Ok(result);
        }
        let mut site = self.site(ProofStep::Canary, key, &ProvenTree::last(&self.request))?;
        if let Some(why) = site.prepare(&self.request)? {
            return Ok(site.failed(why));
        }
        let plain = self.plant(&mut site, &trees, baseline.as_ref())?;
        let run = StepRun {
            tree: self.request.tree.clone(),
            attempts: results(vec![plain]),
            seconds: 0.0,
            touched: Vec::new(),
            baseline_again: Vec::new(),
        };
        Ok(site.finish(run)?.1)
    }
}
