//! The steps of a proof, as effects of a run: each is taken by a prover of its own, which a person can
//! stop and which outlives this controller. What the steps found lies below the home under the key of
//! its request; the conclusion is drawn from that. The baseline's step begins beside the first call,
//! so that nobody waits for it at the end.

use crate::drive::Performed;
use crate::measure::in_place;
use crate::measure::proof::{Opening, Pending, ProofCheck, ProofError, Prover, Request, StepResult, keep};
use crate::tree::git::Git;
use crate::world::real::Host;
use crate::world::wait::Heard;
use loop_core::engine::{Baseline, Event, StepTaken, Unprepared, proof_checks};
use loop_core::proof::{Evidence, Exit, NotRun, Results, Step, StepOutcome, conclude, nothing_ran};
use loop_core::workflow::model::CleanWhen;
use loop_store::run::Run;
use std::path::PathBuf;
use std::time::Duration;

/// A prover ends by itself; this only bounds a wait that nothing wakes.
const PATIENCE: Duration = Duration::from_secs(3600);

impl Host<'_> {
    /// Takes down under which conditions the run begins and keeps its first tree, for the proof at its
    /// end. Returns the name of what was taken down.
    pub(crate) fn open_proof(&self, run: &Run, baseline: &Baseline) -> anyhow::Result<Option<String>> {
        if !is_proven(run) {
            return Ok(None);
        }
        let commit = Some(baseline.facts.commit.as_str()).filter(|it| !it.is_empty());
        keep(
            &Git::open(&self.place)?,
            &format!("refs/loop/base/{}", self.run_id),
            &baseline.facts.tree,
            commit,
        )?;
        Ok(Some(self.take_opening(run)?))
    }

    fn take_opening(&self, run: &Run) -> anyhow::Result<String> {
        let opening = Opening::take(&Git::open(&self.place)?, &Git::open(&self.borrow_from(run))?)?;
        Ok(opening.keep(self.shim.ears.shared_home().path())?)
    }

    /// Begins with the baseline's step, beside the first call.
    pub(crate) fn begin_proof(&mut self, run: &Run) {
        if run.state.calls_total != 1 || self.beside.is_some() || !is_proven(run) {
            return;
        }
        // What cannot be begun here is said when the proof is due.
        let Ok(prover) = self.request(run).and_then(|it| Ok(self.prover(it)?)) else { return };
        if prover.known(Step::Baseline).is_none() {
            self.beside = prover.start(Step::Baseline).ok().map(|it| Beside(Some(it)));
        }
    }

    pub(crate) fn prove(&mut self, run: &Run, step: Step) -> anyhow::Result<Performed> {
        let request = self.request(run)?;
        if step == Step::Clean {
            let name = format!("refs/loop/head/{}", self.run_id);
            keep(&Git::open(&self.place)?, &name, &request.tree, request.tree_commit.as_deref())?;
        }
        let prover = self.prover(request)?;
        let result = match prover.known(step) {
            Some(known) => known,
            None => {
                let pending = prover.start(step)?;
                match self.await_prover(&prover, pending)? {
                    Some(result) => result,
                    None => return Ok(Performed::Begun),
                }
            }
        };
        Ok(Performed::Done(Event::StepTaken(Box::new(StepTaken {
            step,
            tree: run.state.seen.tree.clone(),
            seconds: result.seconds,
            found: in_words(&result),
            unprepared: unprepared(step, &result),
        }))))
    }

    /// Waits for a prover; a person who wants something at once ends it.
    fn await_prover(&mut self, prover: &Prover, pending: Pending) -> anyhow::Result<Option<StepResult>> {
        use std::os::fd::AsFd;
        let mut pending = pending;
        loop {
            if pending.wait(Some(Duration::ZERO))? {
                return Ok(Some(prover.collect(pending)?));
            }
            match self.shim.ears.listen(Some(pending.as_fd()), PATIENCE)? {
                Heard::Now { .. } => {
                    pending.end()?;
                    return Ok(None);
                }
                Heard::Answer | Heard::Command | Heard::Nothing => (),
            }
        }
    }

    pub(crate) fn conclude(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let request = self.request(run)?;
        let commit = self.commit_with(&request.tree, request.tree_commit.as_deref());
        let evidence = Evidence {
            commit,
            in_place: in_place::read(&self.folder, in_place::LAST),
            waivers: run.state.waivers.clone(),
            allowed: run.workflow.proof.allow.clone(),
            approved: run.state.accepted,
            ..self.prover(request)?.evidence()?
        };
        Ok(Performed::Done(Event::Proved(Box::new(conclude(&evidence)))))
    }

    /// The commit that is checked out, if it has this very tree.
    fn commit_with(&self, tree: &str, commit: Option<&str>) -> Option<String> {
        let commit = commit?;
        let named = format!("{commit}^{{tree}}");
        let found = Git::open(&self.place).ok()?.run(["rev-parse", "--verify", "--quiet", &named]).ok()?;
        (String::from_utf8_lossy(&found).trim() == tree).then(|| commit.to_owned())
    }

    fn prover(&self, request: Request) -> Result<Prover, ProofError> {
        Prover::new(self.shim.ears.shared_home().path(), request)
    }

    /// The tree that has the dependency folders.
    fn borrow_from(&self, run: &Run) -> PathBuf {
        run.state.opening.worktree.as_ref().map_or_else(|| self.place.clone(), |it| PathBuf::from(&it.root))
    }

    fn request(&self, run: &Run) -> anyhow::Result<Request> {
        let (workflow, state) = (&run.workflow, &run.state);
        let Some(baseline) = &state.baseline else { anyhow::bail!("a proof needs the tree at the opening") };
        // A run that was taken over has no conditions of its opening; those of now are the nearest.
        let opening = match &baseline.opening {
            Some(opening) => opening.clone(),
            None => self.take_opening(run)?,
        };
        let commit = |it: &str| (!it.is_empty()).then(|| it.to_owned());
        let checks = proof_checks(workflow, state).map(|(name, command)| {
            let check = &workflow.checks[name];
            ProofCheck {
                name: name.clone(),
                command: command.clone(),
                prepare: check.prepare.clone(),
                timeout_ms: check.timeout,
            }
        });
        Ok(Request {
            place: self.place.clone(),
            borrow_from: self.borrow_from(run),
            base: baseline.facts.tree.clone(),
            base_commit: commit(&baseline.facts.commit),
            tree: state.seen.tree.clone(),
            tree_commit: commit(&state.seen.commit),
            opening,
            checks: checks.collect(),
            prepare: state.prepare.clone().or_else(|| workflow.proof.prepare.clone()),
            variables: workflow.proof.env.clone(),
            protect: workflow.proof.protect.clone(),
        })
    }
}

/// A step that is taken while the agent works. Nothing of it stays behind when its controller goes.
pub(crate) struct Beside(Option<Pending>);

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            let _the_next_one_clears_up = pending.end();
        }
    }
}

/// Whether the run will be proven at its end.
pub(crate) fn is_proven(run: &Run) -> bool {
    let (workflow, state) = (&run.workflow, &run.state);
    workflow.proof.clean == CleanWhen::Completion
        && !state.unproven
        && proof_checks(workflow, state).next().is_some()
}

fn in_words(result: &StepResult) -> String {
    match &result.outcome {
        StepOutcome::NotRun(NotRun::NotNeeded) => "not needed".to_owned(),
        StepOutcome::NotRun(NotRun::Skipped) => "skipped".to_owned(),
        StepOutcome::NotRun(NotRun::Failed(why)) => why.clone(),
        StepOutcome::Ran(run) => {
            let checks = run.attempts.first().into_iter().flatten();
            let said = checks.map(|it| format!("{} {}", it.check, tests_in_words(it)));
            said.collect::<Vec<_>>().join(", ")
        }
    }
}

fn tests_in_words(results: &Results) -> String {
    let exit = match results.exit {
        Exit::Green => "passed",
        Exit::Red => "failed",
        Exit::NotStarted => "could not be started",
        Exit::Interrupted => "was ended early",
    };
    match results.passed + results.failed {
        0 => exit.to_owned(),
        ran => format!("{exit}, {} of {ran} tests pass", results.passed),
    }
}

/// Nothing ran on the baseline: the checkout lacks what a package manager would bring.
fn unprepared(step: Step, result: &StepResult) -> Option<Unprepared> {
    if step != Step::Baseline {
        return None;
    }
    let why = match &result.outcome {
        StepOutcome::Ran(run) if nothing_ran(run) => "its commands cannot be started there".to_owned(),
        StepOutcome::NotRun(NotRun::Failed(why)) => why.clone(),
        StepOutcome::Ran(_) | StepOutcome::NotRun(_) => return None,
    };
    Some(Unprepared { why, proposal: None })
}
