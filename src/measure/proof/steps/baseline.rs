//! A0: the tree of the opening in a clean checkout, as it is and with tests that must fail. What it shows is
//! what every later step is compared with.

use crate::clock::now;
use crate::measure::proof::checkout::build_cache::Cache;
use crate::measure::proof::pure::{
    CanaryOutcome, Exit, ProofStep, Results, StepRun, canary_seen, reported_canaries,
};
use crate::measure::proof::request::{ProofError, StepResult};
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::steps::planned_canaries::{planned_canaries, random_word};
use crate::measure::proof::steps::prepared_checkout::PreparedCheckout;
use crate::measure::proof::steps::prover::{ProvenTree, Prover};
use std::path::PathBuf;

impl Prover {
    /// A0 runs beside an agent that could write into its folder. If its tree was changed, it is taken once
    /// more; what is changed then too, and while no agent is at work, the checks write themselves.
    pub(crate) fn undisturbed_baseline(&self, key: &str) -> Result<StepResult, ProofError> {
        let is_quiet = self.is_quiet();
        let mut result = self.baseline(key)?;
        let touched = |it: &StepResult| it.run().map(|it| it.touched.clone()).unwrap_or_default();
        if !is_quiet && !touched(&result).is_empty() {
            result = self.baseline(key)?;
        }
        result.is_undisturbed = is_quiet;
        if is_quiet {
            result.written_by_checks = touched(&result);
            if let Some(run) = result.run_mut() {
                run.touched.clear();
            }
        }
        Ok(result)
    }

    /// Whether what A0 found must be found again, now that nobody works beside it: files of its tree were
    /// written, by its own checks or by somebody else, or a check got less far than at the opening, in place.
    pub(crate) fn is_disturbed(&self, result: &StepResult, opening: &[Results]) -> bool {
        let Some(run) = result.run().filter(|_| result.step == ProofStep::Baseline) else { return false };
        let fell_short = run.attempts.iter().flatten().any(|it| is_cut_short(it, opening));
        !result.is_undisturbed && (!run.touched.is_empty() || fell_short) && self.is_quiet()
    }

    /// Whether agents have worked and none is at work.
    fn is_quiet(&self) -> bool {
        let times = &self.request.agent_times;
        !times.is_empty() && times.iter().all(|(_, end)| *end < now().0)
    }

    /// A0: the baseline as it is, then with canaries, then its caches are kept.
    fn baseline(&self, key: &str) -> Result<StepResult, ProofError> {
        Cache::at(self.folders.cache()).renew(key)?;
        let trees = Trees::read(&self.repository, &self.request)?;
        let mut site = self.site(ProofStep::Baseline, key, &ProvenTree::base(&self.request))?;
        site.compile_go_library(&self.folders.go_library(), &trees, &mut self.folders.budget())?;
        if let Some(why) = site.prepare(&self.request)? {
            return Ok(site.failed(why));
        }
        let run = site.run(&self.request, None, &trees)?;
        self.show_canaries(&mut site, &trees, &run)?;
        let borrowed: Vec<PathBuf> = site.result.folders.iter().map(|(path, _)| path.clone()).collect();
        let (session, mut result) = site.finish(run)?;
        let cache = Cache::at(self.folders.cache());
        cache.take(key, &session.work, &session.seen, &borrowed)?;
        if self.folders.is_over_limit() {
            cache.remove()?;
            result.notes.push(
                "the build is larger than 20 GB or a fifth of the disk, so every step builds from scratch"
                    .to_owned(),
            );
        } else {
            result.cache = Some(cache.fingerprint()?);
        }
        Ok(result)
    }

    /// Notes which canaries each check reports.
    fn show_canaries(
        &self,
        site: &mut PreparedCheckout,
        trees: &Trees,
        run: &StepRun,
    ) -> Result<(), ProofError> {
        let word = random_word();
        site.result.canary_word.clone_from(&word);
        let planned = planned_canaries(trees, &site.session.checkout.path, &word).all;
        let request = trees.with_canary_commands(&self.request, &word);
        if !planned.is_empty() || request != self.request {
            for (check, ran) in site.with_canaries(&request, &planned, trees)? {
                let is_seen = canary_seen(&ran.results, &ran.output, &word);
                let outcome = if is_seen { CanaryOutcome::Seen } else { CanaryOutcome::NotOnBaseline };
                let names = reported_canaries(&ran.results, &word);
                site.result.canary_names.insert(check.clone(), names);
                site.result.canary.insert(check, outcome);
            }
        }
        let seen: Vec<String> = site
            .result
            .canary
            .iter()
            .filter(|(_, it)| **it == CanaryOutcome::Seen)
            .map(|(check, _)| check.clone())
            .collect();
        let programs = site.show_programs(&self.request, trees, &word, &seen, run)?;
        for (check, paths) in programs {
            site.result.canary.insert(check.clone(), CanaryOutcome::Seen);
            site.result.canary_programs.insert(check, paths);
        }
        Ok(())
    }
}

/// Whether a check was ended, or failed before it had run as many tests as in place: an agent that stops its
/// own servers and test runs by their names stops those beside it too.
fn is_cut_short(results: &Results, opening: &[Results]) -> bool {
    let Some(before) = opening.iter().find(|it| it.check == results.check) else { return false };
    match results.exit {
        Exit::Green => false,
        Exit::Interrupted => before.exit != Exit::Interrupted,
        Exit::Red | Exit::NotStarted => results.executed().unwrap_or(0) < before.executed().unwrap_or(0),
    }
}
