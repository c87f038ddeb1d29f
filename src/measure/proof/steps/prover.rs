//! The steps of a proof, each run from nothing: a checkout, the overlay that the step asks for, an
//! environment, the checks, and repetitions of what was red. A step that was killed leaves a folder
//! and a mark; the next one ends and removes them first. A result is kept under its key and never
//! computed twice.

use crate::clock::now;
use crate::clock::since_epoch;
use crate::measure::proof::checkout::build_cache::Cache;
use crate::measure::proof::checkout::clean_checkout::{self, Checkout, CheckoutSource};
use crate::measure::proof::checkout::objects::refuse_forged_files;
use crate::measure::proof::conditions::changed_tools;
use crate::measure::proof::conditions::environment::{CheckEnvironment, Seen, fill_cargo_home};
use crate::measure::proof::conditions::opening::OpeningConditions;
use crate::measure::proof::conditions::tool_homes::HOMES;
use crate::measure::proof::pure::{
    CanaryOutcome, Exit, NamedTests, NotRun, OverlayPlan, ProofStep, StepOutcome, StepRun, retry_without,
};
use crate::measure::proof::request::{ProofError, ProofRequest, StepResult};
use crate::measure::proof::steps::changed_files::Manifest;
use crate::measure::proof::steps::overlay::{self, Trees};
use crate::measure::proof::steps::prepared_checkout::PreparedCheckout;
use crate::measure::proof::steps::session::{ProofSession, Ran};
use crate::measure::proof::storage::dependency_folders::{self, Borrowing};
use crate::measure::proof::storage::files;
use crate::measure::proof::storage::folders::{Folders, Occupant};
use crate::tree::git::Git;
use loop_supervise::contain;
use loop_supervise::identity::Identity;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The executor of a proof.
pub(crate) struct Prover {
    pub(crate) home: PathBuf,
    pub(crate) request: ProofRequest,
    pub(crate) folders: Folders,
    pub(crate) repository: Git,
    borrow_from: Git,
    opening: OpeningConditions,
}

impl Prover {
    pub(crate) fn new(home: &Path, request: ProofRequest) -> Result<Prover, ProofError> {
        let repository = Git::reopen(&request.place)?;
        let borrow_from = if request.borrow_from == request.place {
            repository.clone()
        } else {
            Git::reopen(&request.borrow_from)?
        };
        let folders =
            Folders::open(home, repository.common_dir(), [repository.work_tree(), borrow_from.work_tree()])?;
        let opening = OpeningConditions::read(home, &request.opening)?;
        Ok(Prover { home: home.to_owned(), request, folders, repository, borrow_from, opening })
    }

    /// Returns the result of a step that was taken before.
    pub(crate) fn known(&self, step: ProofStep) -> Option<StepResult> {
        serde_json::from_slice(&fs::read(self.folders.result(&self.request.key(step))).ok()?).ok()
    }

    /// Returns what a step found the last time, also where it could not work and will be tried again.
    pub(crate) fn last(&self, step: ProofStep) -> Option<StepResult> {
        let failed = || serde_json::from_slice(&fs::read(self.once(step)).ok()?).ok();
        self.known(step).or_else(failed)
    }

    /// Where the result of a step lies that is not kept.
    pub(crate) fn once(&self, step: ProofStep) -> PathBuf {
        self.folders.result(&self.request.key(step)).with_extension("once")
    }

    /// The digest of what `last` returns.
    pub(crate) fn digest(&self, step: ProofStep) -> Option<String> {
        let place = match self.known(step) {
            Some(_) => self.folders.result(&self.request.key(step)),
            None => self.once(step),
        };
        files::hash_file(&place).ok()
    }

    /// Makes a step that was taken one that is not.
    pub(crate) fn forget(&self, step: ProofStep) -> Result<(), ProofError> {
        files::remove(&self.once(step))?;
        Ok(files::remove(&self.folders.result(&self.request.key(step)))?)
    }

    /// Returns how long a step of this kind took the last time in this project, in seconds.
    pub(crate) fn last_s(&self, step: ProofStep) -> Option<f64> {
        self.durations().get(&format!("{step:?}")).copied()
    }

    /// Returns the same, or how long the first step took where this one was never taken.
    pub(crate) fn expected_s(&self, step: ProofStep) -> Option<f64> {
        self.last_s(step).or_else(|| self.last_s(ProofStep::Baseline))
    }

    /// Takes a step in this process, or returns what it brought before. The process becomes a
    /// subreaper, and must have no child that it wants to keep if a shim dies.
    pub(crate) fn step(&self, step: ProofStep) -> Result<StepResult, ProofError> {
        if let Some(known) = self.known(step) {
            return Ok(known);
        }
        if step != ProofStep::Baseline && !self.has_baseline() {
            files::remove(&self.folders.result(&self.request.key(ProofStep::Baseline)))?;
            self.step(ProofStep::Baseline)?;
        }
        contain::become_subreaper()?;
        let key = self.request.key(step);
        let occupant = Occupant {
            identity: Identity::mine()?,
            key: key.clone(),
            step: format!("{step:?}"),
            since: since_epoch().as_secs(),
            expected_s: self.expected_s(step),
        };
        let held = self.folders.hold(&occupant)?;
        // Whoever worked here while we waited may have taken the same step.
        if let Some(known) = self.known(step) {
            return Ok(known);
        }
        let started = Instant::now();
        // Looked at before the first run of the final tree and after every one: what is to serve a later
        // step has to be there when an earlier one ends.
        let began_ms = now().0;
        let before = if step == ProofStep::Clean { self.changed_tools(step, began_ms) } else { Vec::new() };
        let mut result = match step {
            ProofStep::Baseline => self.undisturbed_baseline(&key)?,
            ProofStep::Clean => self.clean(&key)?,
            ProofStep::Overlay => self.overlaid(&key)?,
            ProofStep::OldCode => self.old_code(&key)?,
            ProofStep::Canary => self.canary(&key)?,
        };
        result.seconds = started.elapsed().as_secs_f64();
        if let StepOutcome::Ran(run) = &mut result.outcome {
            run.seconds = result.seconds;
        }
        if result.run().is_some() {
            let after = self.changed_tools(step, began_ms);
            let is_new = |it: &String| !before.contains(it);
            result.changed_tools = before.iter().cloned().chain(after.into_iter().filter(is_new)).collect();
        }
        // Whoever fills the disk in the middle fails for that reason alone.
        if result.run().is_some_and(has_red) {
            self.folders.refuse_filled_disk()?;
        }
        // A result that is known is not looked at again, so nothing may be left to clear after it.
        files::remove(&self.folders.work())?;
        self.keep(&result)?;
        drop(held);
        Ok(result)
    }

    /// Files of the tools that were changed while an agent worked, or since this step began. The
    /// baseline's step is shared by runs, so it looks at none.
    fn changed_tools(&self, step: ProofStep, began_ms: i64) -> Vec<String> {
        if step == ProofStep::Baseline || self.request.opened_at_ms.is_none() {
            return Vec::new();
        }
        let mut times = self.request.agent_times.clone();
        times.push((began_ms, i64::MAX));
        let trees = [self.repository.work_tree(), self.borrow_from.work_tree()];
        changed_tools::changed_within(&self.opening, times, trees)
    }

    /// Whether A0 was taken and its caches are as it left them. Agents work beside A0 and after it.
    fn has_baseline(&self) -> bool {
        let cache = Cache::at(self.folders.cache());
        self.known(ProofStep::Baseline).is_some_and(|it| match it.cache {
            // Another run of this project has replaced it: this one builds from scratch.
            Some(_) if !cache.is_for(&it.key) => true,
            Some(left) => cache.fingerprint().is_ok_and(|now| now == left),
            None => true,
        })
    }

    /// Keeps a result under its key.
    pub(crate) fn keep(&self, result: &StepResult) -> Result<(), ProofError> {
        match &result.outcome {
            // What failed may work the next time.
            StepOutcome::NotRun(NotRun::Failed(_)) => return Ok(()),
            StepOutcome::Ran(_) => {
                let mut durations = self.durations();
                durations.insert(format!("{:?}", result.step), result.seconds);
                let text = serde_json::to_vec(&durations).map_err(std::io::Error::from)?;
                files::replace(&self.folders.durations(), &text)?;
            }
            StepOutcome::NotRun(NotRun::NotNeeded | NotRun::Skipped) => (),
        }
        let text = serde_json::to_vec(result).map_err(std::io::Error::from)?;
        Ok(files::replace(&self.folders.result(&result.key), &text)?)
    }

    fn durations(&self) -> BTreeMap<String, f64> {
        fs::read(self.folders.durations())
            .ok()
            .and_then(|it| serde_json::from_slice(&it).ok())
            .unwrap_or_default()
    }

    /// D: the final tree.
    fn clean(&self, key: &str) -> Result<StepResult, ProofError> {
        let trees = Trees::read(&self.repository, &self.request)?;
        let mut site = self.site(ProofStep::Clean, key, &ProvenTree::last(&self.request))?;
        site.result.changed_protected = trees.changed_protected();
        if let Some(why) = site.prepare(&self.request)? {
            return Ok(site.failed(why));
        }
        let baseline = self.known(ProofStep::Baseline);
        let run = site.run(&self.request, baseline.as_ref().and_then(StepResult::run), &trees)?;
        let result = self.told_from_flaky(key, site.finish(run)?.1)?;
        self.keep_unneeded(trees)?;
        Ok(result)
    }

    /// E, with the canaries of G in the same run where the runner continues after a failure.
    fn overlaid(&self, key: &str) -> Result<StepResult, ProofError> {
        let mut trees = Trees::read(&self.repository, &self.request)?;
        let mut plan = self.overlay_plan(&mut trees);
        let trees = trees;
        if let Some(result) = self.unneeded_overlay(key, &plan) {
            return Ok(result);
        }
        let first = plan.clone();
        for number in 1.. {
            let (mut result, outputs) = self.overlay_once(key, &trees, &plan)?;
            if result.run().is_none_or(|it| !self.did_not_build(it)) {
                return Ok(result);
            }
            match retry_without(&first, number, &outputs) {
                Some(next) => plan = next,
                // Without a test in the plan, it is the check that is red with its original control files.
                None if !first.touches_tests => return Ok(result),
                None => {
                    result.not_judged = first.unjudged("the original tests do not build with the final code");
                    return Ok(result);
                }
            }
        }
        unreachable!("the planner has two more tries")
    }

    /// What the checks printed on the baseline.
    pub(crate) fn baseline_printed(&self) -> String {
        let Some(baseline) = self.known(ProofStep::Baseline) else { return String::new() };
        let entries = fs::read_dir(&baseline.logs).into_iter().flatten().flatten();
        entries.filter_map(|it| loop_base::files::text(&it.path()).ok()).collect()
    }

    fn overlay_once(
        &self,
        key: &str,
        trees: &Trees,
        plan: &OverlayPlan,
    ) -> Result<(StepResult, String), ProofError> {
        let mut site =
            self.site_with(ProofStep::Overlay, key, &ProvenTree::last(&self.request), |checkout| {
                overlay::apply(plan, trees, checkout)
            })?;
        site.result.not_judged.clone_from(&plan.not_judged);
        site.result.changed_protected = trees.changed_protected();
        if let Some(why) = site.prepare(&self.request)? {
            return Ok((site.failed(why), String::new()));
        }
        let baseline = self.known(ProofStep::Baseline);
        let planted = self.plant(&mut site, trees, baseline.as_ref())?;
        let is_done = |ran: &Ran| ran.results.listing == NamedTests::All && ran.results.complete;
        let mut first: Vec<Ran> = planted.into_iter().filter(is_done).collect();
        let done: Vec<String> = first.iter().map(|it| it.results.check.clone()).collect();
        first.extend(site.checks(&self.request, &done)?);
        let mut attempts = vec![first];
        let baseline = baseline.as_ref().and_then(StepResult::run);
        site.repeat(&self.request, &mut attempts, baseline)?;
        let outputs: String = attempts[0].iter().map(|it| it.output.as_str()).collect();
        let touched = site.touched(trees);
        let run = site.ran(attempts, touched);
        if self.did_not_build(&run) {
            site.result.canary.values_mut().for_each(|it| *it = CanaryOutcome::None);
        }
        Ok((self.told_from_flaky(key, site.finish(run)?.1)?, outputs))
    }

    /// F: the final tests on the baseline's code.
    fn old_code(&self, key: &str) -> Result<StepResult, ProofError> {
        let trees = Trees::read(&self.repository, &self.request)?;
        let plan = self.old_code_plan(&trees);
        if let Some(result) = self.unneeded_old_code(key, &plan) {
            return Ok(result);
        }
        let apply = |checkout: &mut Checkout| overlay::apply(&plan, &trees, checkout);
        let mut site = self.site_with(ProofStep::OldCode, key, &ProvenTree::base(&self.request), apply)?;
        if let Some(why) = site.prepare(&self.request)? {
            return Ok(site.failed(why));
        }
        let baseline = self.known(ProofStep::Baseline);
        let run = site.run(&self.request, baseline.as_ref().and_then(StepResult::run), &trees)?;
        Ok(site.finish(run)?.1)
    }

    /// Something did not build: its output says so, or a check that ran tests on the baseline ran none.
    fn did_not_build(&self, run: &StepRun) -> bool {
        let baseline = self.known(ProofStep::Baseline);
        let ran_before = |check: &str| {
            let before = baseline.as_ref().and_then(StepResult::run).and_then(|it| it.check(check));
            before.is_some_and(|it| it.executed().is_some_and(|it| 0 < it))
        };
        run.attempts.first().into_iter().flatten().any(|it| {
            let ran_none = it.executed().is_none_or(|it| it == 0);
            it.exit != Exit::Green && (it.build_failed || ran_none && ran_before(&it.check))
        })
    }

    pub(crate) fn site(
        &self,
        step: ProofStep,
        key: &str,
        tree: &ProvenTree<'_>,
    ) -> Result<PreparedCheckout, ProofError> {
        self.site_with(step, key, tree, |_| Ok(tree.id.to_owned()))
    }

    /// Makes the checkout and everything around it.
    fn site_with(
        &self,
        step: ProofStep,
        key: &str,
        tree: &ProvenTree<'_>,
        apply: impl FnOnce(&mut Checkout) -> Result<String, ProofError>,
    ) -> Result<PreparedCheckout, ProofError> {
        files::remove(&self.folders.work())?;
        let work = self.folders.begin()?;
        let mut budget = self.folders.budget();
        let settings: Vec<(String, String)> =
            self.opening.settings.iter().filter(|(it, _)| !it.starts_with("user.")).cloned().collect();
        let cache = Cache::at(self.folders.cache());
        let is_baseline = step == ProofStep::Baseline;
        let has_cache = is_baseline || cache.is_for(&self.request.key(ProofStep::Baseline));
        let history = has_cache.then(|| cache.history());
        let source = CheckoutSource {
            repository: &self.repository,
            tree: tree.id,
            parent: tree.commit,
            settings: &settings,
            more: if is_baseline { Vec::new() } else { self.request.objects() },
            refs: &self.opening.refs,
            history: history.as_ref(),
            keeps: is_baseline,
        };
        let mut checkout = clean_checkout::write(&source, &work.tree())?;
        let tree = apply(&mut checkout)?;
        let listing = checkout.listing.clone();
        refuse_forged_files(&checkout.git, &checkout.path, &listing)?;
        let mut result = StepResult::not_run(step, key.to_owned(), NotRun::Skipped);
        result.notes.extend(checkout.notes.iter().cloned());
        let original = self.borrow_from.work_tree();
        let hidden = self.must_stay_visible();
        let session = ProofSession::open(work.clone(), checkout, original, &hidden)?;
        result.is_mounted = session.is_mounted;
        if !is_baseline {
            cache.lend(&self.request.key(ProofStep::Baseline), &work, &mut budget)?;
        }
        let kept = has_cache.then(|| cache.borrowed());
        let borrowing = Borrowing {
            from: &self.borrow_from,
            opening: &self.opening.folders,
            kept: kept.as_deref(),
            keeps: is_baseline,
            checkout: &work.tree(),
            is_mounted: session.is_mounted,
        };
        result.folders = dependency_folders::borrow(&borrowing, &mut budget)?;
        let seen = Seen { tree: &session.seen, originals: [original, self.repository.work_tree()] };
        let environment = CheckEnvironment::compose(&self.opening, &work, &seen, &self.request.variables)?;
        result.left_out.clone_from(&environment.left_out);
        let locks = overlay::cargo_locks(&listing);
        result.notes.extend(fill_cargo_home(&self.opening, &work, &work.tree(), &locks, &mut budget)?);
        result.logs = self.folders.logs(key);
        let manifest = Manifest::of(&listing, &work.tree());
        Ok(PreparedCheckout {
            session,
            environment,
            result,
            tree,
            manifest,
            baseline_touched: self.baseline_touched(step),
            touched_with_canaries: Vec::new(),
        })
    }

    /// Paths that a check needs and that a mount over the original must not hide.
    fn must_stay_visible(&self) -> Vec<PathBuf> {
        let homes =
            HOMES.iter().map(|it| self.opening.tool_home(it.variable, it.usual)).filter(|it| it.is_dir());
        let program = std::env::current_exe().ok();
        homes.chain([self.folders.work()]).chain(program).collect()
    }

    fn baseline_touched(&self, step: ProofStep) -> Vec<String> {
        let known = if step == ProofStep::Baseline { None } else { self.known(ProofStep::Baseline) };
        known.map(|it| it.written_by_checks).unwrap_or_default()
    }
}

/// One of the two trees of a request.
pub(crate) struct ProvenTree<'a> {
    id: &'a str,
    commit: Option<&'a str>,
}

impl<'a> ProvenTree<'a> {
    pub(crate) fn base(request: &'a ProofRequest) -> ProvenTree<'a> {
        ProvenTree { id: &request.base, commit: request.base_commit.as_deref() }
    }

    pub(crate) fn last(request: &'a ProofRequest) -> ProvenTree<'a> {
        ProvenTree { id: &request.tree, commit: request.tree_commit.as_deref() }
    }
}

fn has_red(run: &StepRun) -> bool {
    run.attempts.iter().flatten().any(|it| it.exit != Exit::Green)
}
