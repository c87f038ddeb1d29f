//! Step G, and the canaries of the other steps: tests that must fail are put into the test files of a
//! checkout, and a check that does not report them does not report failures.

use crate::measure::proof::pure::{
    CanaryOutcome, NamedTests, ProofStep, TestOutcome, canary_seen, only_compares, reported_canaries,
    without_canary,
};
use crate::measure::proof::request::{ProofError, StepResult};
use crate::measure::proof::steps::overlay::{Trees, is_reached_plainly};
use crate::measure::proof::steps::planned_canaries::planned_canaries;
use crate::measure::proof::steps::prepared_checkout::PreparedCheckout;
use crate::measure::proof::steps::prover::{ProvenTree, Prover};
use crate::measure::proof::steps::session::Ran;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

impl Prover {
    /// Runs the checks with canaries, notes what became of each, and returns the results as they would
    /// be without.
    pub(crate) fn plant(
        &self,
        site: &mut PreparedCheckout,
        trees: &Trees,
        baseline: Option<&StepResult>,
    ) -> Result<Vec<Ran>, ProofError> {
        let Some(baseline) = baseline.filter(|it| it.canary.values().any(|it| *it == CanaryOutcome::Seen))
        else {
            site.result.canary = self.without_canaries();
            return Ok(Vec::new());
        };
        let word = &baseline.canary_word;
        let planned = planned_canaries(trees, &site.session.checkout.path, word);
        let are_elsewhere = planned.are_elsewhere;
        let planned = planned.all;
        let mut plain = Vec::new();
        let request = trees.with_canary_commands(&self.request, word);
        let by_programs = &baseline.canary_programs;
        let by_tests = |it: &CanaryOutcome| *it == CanaryOutcome::Seen;
        let has_tests =
            baseline.canary.iter().any(|(check, it)| by_tests(it) && !by_programs.contains_key(check));
        let planted = planned.iter().map(|it| it.tests).sum::<usize>();
        let has_any = 0 < planted || request != self.request;
        let ran = match has_tests && has_any {
            true => site.with_canaries(&request, &planned, trees)?,
            false => Vec::new(),
        };
        // Where no file is left that carries one, nothing can be said of the runner.
        if !has_any {
            let by_tests = baseline.canary.iter().filter(|(_, it)| by_tests(it)).map(|(check, _)| check);
            site.result.canary.extend(by_tests.map(|it| (it.clone(), CanaryOutcome::None)));
        }
        let as_before = |check: &str, ran: &Ran| match are_elsewhere {
            true => is_as_before_elsewhere(baseline, check, ran, planted),
            false => is_as_before(baseline, check, ran),
        };
        for (check, ran) in ran {
            let was_seen = baseline.canary.get(&check).is_some_and(by_tests);
            let outcome = match (was_seen, as_before(&check, &ran)) {
                (false, _) => CanaryOutcome::NotOnBaseline,
                (true, true) => CanaryOutcome::Seen,
                (true, false) => CanaryOutcome::Unseen,
            };
            // Whoever stopped at the first canary did not get to the other tests.
            let went_on = request == self.request
                && 0 < planted
                && planted <= reported_canaries(&ran.results, word).len();
            if outcome == CanaryOutcome::Seen && went_on {
                plain.push(Ran { results: without_canary(&ran.results, word), output: ran.output });
            }
            site.result.canary.insert(check, outcome);
        }
        for (check, outcome) in self.without_canaries() {
            let found = site.result.canary.entry(check).or_insert(outcome);
            if *found == CanaryOutcome::NotOnBaseline {
                *found = outcome;
            }
        }
        if !by_programs.is_empty() {
            let checkout = &site.session.checkout.path;
            let is_there =
                |it: &&String| is_reached_plainly(checkout, Path::new(it)) && checkout.join(it).is_file();
            let there = |paths: &BTreeSet<String>| paths.iter().filter(is_there).cloned().collect();
            let expected: BTreeMap<String, BTreeSet<String>> =
                by_programs.iter().map(|(check, paths)| (check.clone(), there(paths))).collect();
            for (check, silent) in site.silent_programs(&self.request, trees, word, &expected)? {
                let outcome = match (expected[&check].is_empty(), silent.is_empty()) {
                    (true, _) => CanaryOutcome::None,
                    (false, true) => CanaryOutcome::Seen,
                    (false, false) => CanaryOutcome::Unseen,
                };
                site.result.canary.insert(check, outcome);
            }
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
        if let Some(result) = self.unneeded_canary(key, baseline.as_ref()) {
            return Ok(result);
        }
        let mut site = self.site(ProofStep::Canary, key, &ProvenTree::last(&self.request))?;
        if let Some(why) = site.prepare(&self.request)? {
            return Ok(site.failed(why));
        }
        let plain = self.plant(&mut site, &trees, baseline.as_ref())?;
        let mut attempts = vec![plain];
        // A test that comes and goes is no finding; one that fails beside canaries each time is.
        if attempts[0].iter().any(|it| self.fails_only_here(it)) {
            attempts.push(self.plant(&mut site, &trees, baseline.as_ref())?);
        }
        let touched = site.touched(&trees);
        let run = site.ran(attempts, touched);
        Ok(site.finish(run)?.1)
    }

    /// What is said of checks that showed no canary on the baseline.
    pub(crate) fn without_canaries(&self) -> BTreeMap<String, CanaryOutcome> {
        let outcome = |command: &str| match only_compares(command) {
            true => CanaryOutcome::None,
            false => CanaryOutcome::NotOnBaseline,
        };
        self.request.checks.iter().map(|it| (it.name.clone(), outcome(&it.command))).collect()
    }

    /// Whether a test fails that passed in the clean checkout of the same tree.
    fn fails_only_here(&self, ran: &Ran) -> bool {
        let Some(clean) = self.known(ProofStep::Clean) else { return false };
        let clean = clean.run().and_then(|it| it.check(&ran.results.check));
        let passed = |name: &str| {
            clean.is_some_and(|it| {
                it.listing == NamedTests::All && it.outcome(name) == Some(TestOutcome::Passed)
            })
        };
        ran.results.names(TestOutcome::Failed).any(passed)
    }
}

/// Whether a check reports every canary that it reported on the baseline. A runner that stops at the first
/// failure reports one, and not always the same.
fn is_as_before(baseline: &StepResult, check: &str, ran: &Ran) -> bool {
    let word = &baseline.canary_word;
    let before = baseline.canary_names.get(check).filter(|it| 1 < it.len());
    let now = reported_canaries(&ran.results, word);
    canary_seen(&ran.results, &ran.output, word) && before.is_none_or(|it| it.is_subset(&now))
}

/// The same where the tests of the baseline were moved to other files: the canaries have other names there, so that
/// their number counts.
fn is_as_before_elsewhere(baseline: &StepResult, check: &str, ran: &Ran, planted: usize) -> bool {
    let word = &baseline.canary_word;
    let before = baseline.canary_names.get(check).map_or(1, BTreeSet::len);
    let now = reported_canaries(&ran.results, word).len();
    canary_seen(&ran.results, &ran.output, word) && (before < 2 || before.min(planted) <= now)
}
