//! The steps of a proof, as effects of a run: each is taken by a prover of its own, which a person can
//! stop and which outlives this controller. What the steps found lies below the home under the key of
//! its request; the conclusion is drawn from that. The baseline's step begins beside the first call,
//! so that nobody waits for it at the end.

use crate::drive::Performed;
use crate::measure::proof::{
    OpeningConditions, Pending, ProofCheck, ProofError, ProofRequest, Prover, StepResult, keep,
};
use crate::measure::tests_in_place;
use crate::tree::git::Git;
use crate::tree::git_text::listed_paths;
use crate::world::baseline_prover::BaselineProver;
use crate::world::effects::agent_times;
use crate::world::real::Host;
use crate::world::wait::WaitResult;
use loop_core::engine::{Baseline, Event, Hold, HoldKind, StepTaken, Unprepared, proof_checks};
use loop_core::proof::{
    CanaryOutcome, Exit, NamedTests, NotRun, ProofEvidence, ProofStep, Results, StepOutcome, conclude,
    nothing_ran,
};
use loop_core::workflow::model::CleanWhen;
use loop_store::StoreError;
use loop_store::run::Run;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A prover ends by itself; this only bounds a wait that nothing wakes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A prover that continues with the next step wakes nobody when one is done, so somebody has to look.
const LOOK_EVERY: Duration = Duration::from_millis(200);

impl Host<'_> {
    /// Takes down under which conditions the run begins and keeps its first tree, for the proof at its
    /// end. Returns the name of what was taken down.
    pub(crate) fn open_proof(&self, run: &Run, baseline: &Baseline) -> anyhow::Result<Option<String>> {
        if !is_proven(run) {
            return Ok(None);
        }
        let commit = Some(baseline.facts.commit.as_str()).filter(|it| !it.is_empty());
        keep(
            &Git::reopen(&self.place)?,
            &format!("refs/loop/base/{}", self.run_id),
            &baseline.facts.tree,
            commit,
        )?;
        Ok(Some(self.take_opening(run)?))
    }

    fn take_opening(&self, run: &Run) -> anyhow::Result<String> {
        let opening =
            OpeningConditions::take(&Git::reopen(&self.place)?, &Git::reopen(&self.borrow_from(run))?)?;
        Ok(opening.keep(self.shim.listener.shared_home().path())?)
    }

    /// Begins with the baseline's step, beside the first call.
    pub(crate) fn begin_proof(&mut self, run: &Run) {
        if run.state.calls_total == 1 && self.baseline_prover.is_none() && is_proven(run) {
            self.baseline_prover = self.start_baseline(run).map(BaselineProver::new);
        }
    }

    /// The same where somebody else does the work: the prover continues when this process ends.
    pub(crate) fn leave_baseline_to_prover(&self, run: &Run) {
        let _goes_on = self.start_baseline(run);
    }

    /// What cannot be begun here is said when the proof is due.
    fn start_baseline(&self, run: &Run) -> Option<Pending> {
        let prover = self.request(run).and_then(|it| Ok(self.prover(it)?)).ok()?;
        match prover.known(ProofStep::Baseline) {
            Some(_) => None,
            None => prover.start(ProofStep::Baseline).ok(),
        }
    }

    pub(crate) fn prove(&mut self, run: &Run, step: ProofStep) -> anyhow::Result<Performed> {
        self.try_to_prove(run, step).or_else(|error| Ok(Performed::Done(paused_by(error)?)))
    }

    fn try_to_prove(&mut self, run: &Run, step: ProofStep) -> anyhow::Result<Performed> {
        let prover = self.prover_for(run, step)?;
        let opened_with = run.state.baseline.as_ref().map_or(&[][..], |it| &it.results);
        prover.forget_planted(step, opened_with)?;
        if step == ProofStep::Overlay
            && let Some(line) = line_request(run, &self.request(run)?)
        {
            let line = self.prover(line)?;
            line.forget_planted(step, opened_with)?;
            if self.take_step(&line, step)?.is_none() {
                return Ok(Performed::Begun);
            }
        }
        let Some(result) = self.take_step(&prover, step)? else { return Ok(Performed::Begun) };
        Ok(Performed::Done(self.taken(run, &prover, step, &result)))
    }

    fn prover_for(&mut self, run: &Run, step: ProofStep) -> anyhow::Result<Prover> {
        let request = self.request(run)?;
        if step == ProofStep::Clean {
            let name = format!("refs/loop/head/{}", self.run_id);
            keep(&Git::reopen(&self.place)?, &name, &request.tree, request.tree_commit.as_deref())?;
        }
        Ok(self.prover(request)?)
    }

    /// Takes a step where there is little time: what is not done by then continues without us, to the
    /// end of the proof, and somebody comes back for it.
    pub(crate) fn prove_until(
        &mut self,
        run: &Run,
        step: ProofStep,
        until: Instant,
    ) -> anyhow::Result<InTime> {
        self.try_until(run, step, until).or_else(|error| Ok(InTime::Done(paused_by(error)?)))
    }

    fn try_until(&mut self, run: &Run, step: ProofStep, until: Instant) -> anyhow::Result<InTime> {
        if self.tree.status()?.tree != run.state.seen.tree {
            return Ok(InTime::Moved);
        }
        let prover = self.prover_for(run, step)?;
        if let Some(known) = prover.known(step) {
            return Ok(InTime::Done(self.taken(run, &prover, step, &known)));
        }
        let mut pending = prover.start_to_the_end(step)?;
        loop {
            let is_over = pending.wait(Some(Duration::ZERO))?;
            if let Some(known) = prover.known(step) {
                return Ok(InTime::Done(self.taken(run, &prover, step, &known)));
            }
            if is_over {
                let result = prover.collect(pending)?;
                return Ok(InTime::Done(self.taken(run, &prover, step, &result)));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(InTime::GoesOn { expected_s: pending.expected_s });
            }
            match self.shim.listener.listen(Some(pending.as_fd()), left.min(LOOK_EVERY))? {
                WaitResult::Now { .. } => return Ok(InTime::GoesOn { expected_s: pending.expected_s }),
                WaitResult::Answer | WaitResult::Command | WaitResult::Nothing => (),
            }
        }
    }

    /// Returns what a step found, or nothing when a person wants something first.
    pub(super) fn take_step(
        &mut self,
        prover: &Prover,
        step: ProofStep,
    ) -> anyhow::Result<Option<StepResult>> {
        let known = prover.known(step);
        let opening = tests_in_place::read(&self.folder, tests_in_place::OPENING);
        let is_disturbed = known.as_ref().is_some_and(|it| prover.is_disturbed(it, &opening));
        if is_disturbed {
            prover.forget(step)?;
        }
        match known.filter(|_| !is_disturbed) {
            Some(known) => Ok(Some(known)),
            None => {
                let pending = prover.start(step)?;
                match self.await_prover(prover, pending) {
                    // Memory that ran out once, beside other work, may be enough the second time.
                    Err(error) if was_killed(&error) => {
                        let pending = prover.start(step)?;
                        self.await_prover(prover, pending)
                    }
                    taken => taken,
                }
            }
        }
    }

    /// Keeps the tree whose tests are protected, so that no clean-up of git's removes it.
    pub(crate) fn keep_line(&mut self, run: &Run) -> anyhow::Result<()> {
        let line = &run.state.protected_line;
        if let Some(tree) = line.as_ref().filter(|_| self.kept_line != *line && is_proven(run)) {
            keep(&Git::reopen(&self.place)?, &format!("refs/loop/line/{}", self.run_id), tree, None)?;
            self.kept_line.clone_from(line);
        }
        Ok(())
    }

    /// Waits for a prover; a person who wants something at once ends it.
    fn await_prover(&mut self, prover: &Prover, pending: Pending) -> anyhow::Result<Option<StepResult>> {
        let mut pending = pending;
        loop {
            if pending.wait(Some(Duration::ZERO))? {
                return Ok(Some(prover.collect(pending)?));
            }
            match self.shim.listener.listen(Some(pending.as_fd()), PATIENCE)? {
                WaitResult::Now { .. } => {
                    pending.end()?;
                    return Ok(None);
                }
                WaitResult::Answer | WaitResult::Command | WaitResult::Nothing => (),
            }
        }
    }

    pub(crate) fn conclude(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.try_to_conclude(run).or_else(|error| Ok(Performed::Done(paused_by(error)?)))
    }

    fn try_to_conclude(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let request = self.request(run)?;
        let prover = self.prover(request.clone())?;
        for taken in run.state.proving.iter().flat_map(|it| &it.steps) {
            let as_recorded =
                taken.digest.as_ref().is_none_or(|it| prover.digest(taken.step).as_ref() == Some(it));
            // What somebody changed or removed since then is found out again.
            if !as_recorded {
                prover.forget(taken.step)?;
                if self.take_step(&prover, taken.step)?.is_none() {
                    return Ok(Performed::Begun);
                }
            }
        }
        let commit = self.commit_with(&request.tree, request.tree_commit.as_deref());
        let line = match line_request(run, &request) {
            Some(line) => self.prover(line)?.known(ProofStep::Overlay).map(|it| it.outcome),
            None => None,
        };
        let evidence = ProofEvidence {
            commit,
            opening: tests_in_place::read(&self.folder, tests_in_place::OPENING),
            in_place: tests_in_place::read(&self.folder, tests_in_place::LAST),
            protected_line: line.unwrap_or(StepOutcome::NotRun(NotRun::NotNeeded)),
            waivers: run.state.waivers.clone(),
            allowed: run.workflow.proof.allow.clone(),
            approved: run.state.accepted,
            ..prover.evidence()?
        };
        let mut proof = conclude(&evidence);
        if run.state.session.is_some() {
            proof.notes.push("the agent's session was running during the proof".to_owned());
        }
        Ok(Performed::Done(Event::Proved(Box::new(proof))))
    }

    /// The commit that is checked out, if it has this very tree.
    fn commit_with(&self, tree: &str, commit: Option<&str>) -> Option<String> {
        let commit = commit?;
        let git = Git::reopen(&self.place).ok()?;
        let differing =
            git.run(["diff-tree", "-r", "-z", "--name-only", "--no-renames", commit, tree]).ok()?;
        // Our own files are part of no tree that is judged.
        listed_paths(&differing).all(|it| self.ours.holds(&it)).then(|| commit.to_owned())
    }

    pub(super) fn prover(&self, request: ProofRequest) -> Result<Prover, ProofError> {
        Prover::new(self.shim.listener.shared_home().path(), request)
    }

    /// The tree that has the dependency folders.
    fn borrow_from(&self, run: &Run) -> PathBuf {
        run.state.opening.worktree.as_ref().map_or_else(|| self.place.clone(), |it| PathBuf::from(&it.root))
    }

    /// When the tools were as the run found them. A session that was taken over says when its work began,
    /// maybe months ago on another machine; what counts is when it came here.
    fn tools_known_since(&self, run: &Run) -> anyhow::Result<Option<i64>> {
        if !run.state.opening.imported {
            return Ok(Some(run.state.opened_at.0));
        }
        Ok(self.shim.listener.shared_home().run(&run.id)?.map(|it| it.opened_at))
    }

    /// When agents worked since then.
    fn agent_times(&self, run: &Run, since: Option<i64>) -> anyhow::Result<Vec<(i64, i64)>> {
        let Some(since) = since else { return Ok(Vec::new()) };
        if let Some(session) = &run.state.session {
            return Ok(agent_times::of_session(session, since));
        }
        agent_times::read(&self.shim.listener.shared_home(), &run.id, since)
    }

    pub(super) fn request(&self, run: &Run) -> anyhow::Result<ProofRequest> {
        let (workflow, state) = (&run.workflow, &run.state);
        let Some(baseline) = &state.baseline else { anyhow::bail!("a proof needs the tree before the run") };
        // A run that was taken over has no conditions of its opening; those of now are the nearest.
        let opening = match &baseline.opening {
            Some(opening) => opening.clone(),
            None => self.take_opening(run)?,
        };
        let opened_at_ms = self.tools_known_since(run)?;
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
        Ok(ProofRequest {
            place: self.place.clone(),
            borrow_from: self.borrow_from(run),
            base: baseline.facts.tree.clone(),
            base_commit: commit(&baseline.facts.commit),
            tree: state.seen.tree.clone(),
            tree_commit: commit(&state.seen.commit),
            opening,
            opened_at_ms,
            agent_times: self.agent_times(run, opened_at_ms)?,
            checks: checks.collect(),
            prepare: state.prepare.clone().or_else(|| workflow.proof.prepare.clone()),
            variables: workflow.proof.env.clone(),
            protect: workflow.proof.protect.clone(),
        })
    }

    /// The event of a step that was taken.
    fn taken(&self, run: &Run, prover: &Prover, step: ProofStep, result: &StepResult) -> Event {
        Event::StepTaken(Box::new(StepTaken {
            step,
            tree: run.state.seen.tree.clone(),
            seconds: result.seconds,
            not_needed: matches!(result.outcome, StepOutcome::NotRun(NotRun::NotNeeded)),
            found: in_words(result),
            digest: prover.digest(step),
            expected_s: (step == ProofStep::Baseline).then(|| expected_rest(run, prover)).flatten(),
            unprepared: unprepared(
                step,
                result,
                &tests_in_place::read(&self.folder, tests_in_place::OPENING),
            ),
        }))
    }
}

/// A step that found no room pauses the run where it is, and is taken again when there is. What git
/// itself says stays git's own error, so that whoever prints it knows the next step.
fn paused_by(error: anyhow::Error) -> anyhow::Result<Event> {
    let error = error.downcast::<ProofError>()?;
    if let ProofError::ProverKilled = error {
        let reason = "a step of the proof was killed twice before it had a result, as happens when memory runs \
                      out (dmesg names what the kernel killed); loop run takes the step again";
        return Ok(Event::Held(Hold { kind: HoldKind::Paused, reason: reason.to_owned() }));
    }
    let Some(why) = error.disk_full() else {
        return Err(match error {
            ProofError::Git(error) => error.into(),
            ProofError::Opening { path, what } => StoreError::NoOpening { path, what }.into(),
            ProofError::File(_)
            | ProofError::Protect(_)
            | ProofError::Prover(_)
            | ProofError::ProverKilled
            | ProofError::DiskFull(_) => error.into(),
        });
    };
    let reason =
        format!("{why}; free some disk space (loop runs --prune deletes finished runs), then loop run");
    Ok(Event::Held(Hold { kind: HoldKind::Paused, reason }))
}

fn was_killed(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<ProofError>(), Some(ProofError::ProverKilled))
}

/// What came of a step that had little time.
#[expect(clippy::large_enum_variant, reason = "one value lives at a time, between a step and its record")]
pub(crate) enum InTime {
    Done(Event),
    /// Another process is at it, for about so many seconds more.
    GoesOn {
        expected_s: Option<f64>,
    },
    /// The tree is not the one that was judged.
    Moved,
}

/// The request whose overlay brings the tests of the phase that wrote them first.
fn line_request(run: &Run, request: &ProofRequest) -> Option<ProofRequest> {
    let line = run.state.protected_line.as_ref()?;
    let differs = *line != request.base && *line != request.tree;
    differs.then(|| ProofRequest { base: line.clone(), base_commit: None, ..request.clone() })
}

/// Whether the run will be proven at its end.
pub(crate) fn is_proven(run: &Run) -> bool {
    let (workflow, state) = (&run.workflow, &run.state);
    workflow.proof.clean == CleanWhen::Completion
        && !state.unproven
        && proof_checks(workflow, state).next().is_some()
}

/// What the steps after the first will take together.
fn expected_rest(run: &Run, prover: &Prover) -> Option<f64> {
    let unknown =
        ProofStep::ALL.into_iter().filter(|it| *it != ProofStep::Baseline && prover.known(*it).is_none());
    let first = prover.last_s(ProofStep::Baseline);
    let in_place = run.state.checks_ms as f64 / 1000.0;
    let seconds: Option<f64> = unknown.map(|it| step_estimate(prover.last_s(it), first, in_place)).sum();
    seconds.filter(|it| 0.0 < *it)
}

/// Estimates a step in seconds. One that this project has seen takes what it took the last time. Any other
/// starts from the cache of the first step, which built everything from nothing, so it takes about as long
/// as the checks did in place the last time, and no longer than the first step.
fn step_estimate(last: Option<f64>, first: Option<f64>, in_place: f64) -> Option<f64> {
    let from_cache = || first.map(|it| if 0.0 < in_place { in_place.min(it) } else { it });
    last.or_else(from_cache)
}

pub(super) fn in_words(result: &StepResult) -> String {
    match &result.outcome {
        StepOutcome::Ran(_) if result.step == ProofStep::Canary => canary_in_words(result),
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

fn canary_in_words(result: &StepResult) -> String {
    // A check that runs no tests cannot report one; that is worth a word only where no other check did.
    let is_seen = result.canary.values().any(|it| *it == CanaryOutcome::Seen);
    let told = result.canary.iter().filter(|(_, outcome)| match outcome {
        CanaryOutcome::Seen | CanaryOutcome::Unseen => true,
        CanaryOutcome::NotOnBaseline | CanaryOutcome::None => !is_seen,
    });
    let said = told.map(|(check, outcome)| match outcome {
        CanaryOutcome::Seen => format!("the check {check} reports it as failing, as it should"),
        CanaryOutcome::Unseen => format!("{check} does not report it, so a pass proves nothing"),
        CanaryOutcome::NotOnBaseline => {
            format!("not used: {check} does not report it on the original code either")
        }
        CanaryOutcome::None => format!("{check} has no test file that can carry one"),
    });
    said.collect::<Vec<_>>().join(", ")
}

fn tests_in_words(results: &Results) -> String {
    let exit = match results.exit {
        Exit::Green => "passed",
        Exit::Red => "failed",
        Exit::NotStarted => "could not be started",
        Exit::Interrupted => "was ended early",
    };
    let counts_none = results.listing == NamedTests::All && results.skipped == 0;
    match results.passed + results.failed {
        0 if counts_none && results.exit == Exit::Green => "passed (0 tests ran)".to_owned(),
        0 => exit.to_owned(),
        ran => match results.exit {
            Exit::Green => format!("{exit} ({} of {ran})", results.passed),
            Exit::Red if 0 < results.failed => format!("{exit} ({} of {ran})", results.failed),
            Exit::Red | Exit::NotStarted | Exit::Interrupted => {
                format!("{exit} ({} of {ran} passed)", results.passed)
            }
        },
    }
}

/// Nothing ran on the baseline: the checkout lacks what a package manager would bring.
fn unprepared(step: ProofStep, result: &StepResult, in_place: &[Results]) -> Option<Unprepared> {
    if step != ProofStep::Baseline {
        return None;
    }
    let why = match &result.outcome {
        StepOutcome::Ran(run) if nothing_ran(run, in_place) => {
            let said = ["its commands cannot be started there".to_owned()].into_iter();
            said.chain(result.notes.iter().cloned()).collect::<Vec<_>>().join("; ")
        }
        StepOutcome::NotRun(NotRun::Failed(why)) => why.clone(),
        StepOutcome::Ran(_) | StepOutcome::NotRun(_) => return None,
    };
    Some(Unprepared { why, proposal: None })
}

#[cfg(test)]
mod tests {
    use super::step_estimate;

    #[test]
    fn a_step_is_estimated_by_what_was_measured() {
        assert_eq!(step_estimate(Some(2.5), Some(25.1), 1.1), Some(2.5));
        assert_eq!(step_estimate(None, Some(25.1), 1.1), Some(1.1));
        assert_eq!(step_estimate(None, Some(0.4), 1.1), Some(0.4));
        assert_eq!(step_estimate(None, Some(25.1), 0.0), Some(25.1));
        assert_eq!(step_estimate(None, None, 1.1), None);
    }
}
