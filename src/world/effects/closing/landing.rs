//! The steps of a landing, as effects of a run: merging with the target as it is, proving the merged tree,
//! moving the target. One run lands on a branch at a time, so a kernel lock is held from the first step to
//! the last; whoever comes later waits for it and says so. After a crash the steps begin where the journal
//! stands, and each asks first where the target is.

use crate::deliver::github::GitHub;
use crate::deliver::train::advance::{self, Moved};
use crate::deliver::train::merge::{is_ancestor, short, tip, tree_of};
use crate::deliver::{land, pull_request};
use crate::drive::Performed;
use crate::measure::checks::run_checks::Cut;
use crate::measure::proof::ProofRequest;
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::world::effects::closing::proving::{in_words, is_proven};
use crate::world::effects::foreign;
use crate::world::real::Host;
use crate::world::wait::WaitResult;
use loop_core::engine::{Event, Landing, LandingStep, Merge, QuestionKind, proof_checks};
use loop_core::proof::{NotRun, ProofEvidence, ProofStep, StepOutcome, conclude, red_on_merge};
use loop_store::mirror::domain_memory;
use loop_store::run::Run;
use loop_store::{Filter, LandingLock, StoreError};
use std::path::Path;
use std::time::Duration;

/// How often somebody who waits for another's landing looks whether it is over. A landing takes seconds at
/// least, and nothing wakes those who wait for a kernel lock and for commands at once.
const QUEUE_GLANCE: Duration = Duration::from_millis(250);

/// Problems of a merged tree that are told; the log has the others.
const TOLD: usize = 20;

/// What came of judging a merged tree.
pub(crate) enum Judged {
    /// It holds, and what shows it.
    Holds(String),
    /// What is wrong with it.
    Red(Vec<String>),
    /// Nobody could find out, and why.
    Unknown(String),
    /// A person wants something first.
    Cut,
}

impl Host<'_> {
    /// Merges the proven work with the target as it is, or says why it is kept back.
    pub(crate) fn land(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.forget_status();
        if let Some(landed) = self.land_by_request(run)? {
            return Ok(landed);
        }
        let subject = land::subject(run);
        let work = match land::work(run, &subject) {
            Ok(work) => work,
            Err(landing) => return Ok(self.landed(landing)),
        };
        if let Some(landing) = land::barred(run) {
            return Ok(self.landed(landing));
        }
        let git = Git::open(Path::new(&work.plan.root))?;
        if let Some(waits) = self.hold_branch(run, &git, work.target)? {
            return Ok(waits);
        }
        if let Some(foreign) = foreign::unanswered(run, &git)? {
            return Ok(self.landed(foreign));
        }
        match work.merge(&git)? {
            Ok(merge) => {
                // No clean-up of git's removes what is not part of a branch yet.
                let name = format!("refs/loop/train/{}", run.id);
                git.durable().run([
                    "-c",
                    "core.logAllRefUpdates=false",
                    "update-ref",
                    &name,
                    &merge.commit,
                ])?;
                Ok(step(LandingStep::Merged(merge)))
            }
            Err(landing) => Ok(self.landed(landing)),
        }
    }

    /// Brings the work to its target through the host, where the project is on one.
    fn land_by_request(&mut self, run: &Run) -> anyhow::Result<Option<Performed>> {
        let Some(hub) = GitHub::of(run)? else { return Ok(None) };
        let home = self.shim.listener.shared_home();
        let shim = &mut self.shim;
        let mut execute = |order| shim.carry_out(run.state.epoch, order);
        let landed = pull_request::land(&hub, &home, &mut execute)?;
        self.notes.extend(hub.notes.take().into_iter().map(|text| Event::Noted { text }));
        Ok(Some(match landed {
            Ok(landing) => self.landed(landing),
            Err(Cut) => self.cut(),
        }))
    }

    /// Finds out whether the merged tree holds.
    pub(crate) fn prove_merge(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.forget_status();
        let merge = match self.merge_under_way(run)? {
            Ok(merge) => merge,
            Err(performed) => return Ok(performed),
        };
        let Ok((plan, _)) = land::target(run) else { anyhow::bail!("a merge has a target") };
        let git = Git::open(Path::new(&plan.root))?;
        let proven = run.state.proven.as_ref().map(|it| it.commit.clone()).unwrap_or_default();
        let is_same = merge.from == plan.base && merge.tree == tree_of(&git, &proven)?;
        if is_same && run.state.is_proven() {
            let by = "it is the tree that was proven, so nothing runs again".to_owned();
            return Ok(step(LandingStep::Proven { by }));
        }
        if is_proven(run) {
            return Ok(match self.judge(run, &git, &merge)? {
                Judged::Holds(by) => step(LandingStep::Proven { by }),
                Judged::Red(why) => self.sent_back(run, &merge, why),
                Judged::Unknown(why) => self.landed(Landing::Not { why, unreviewed: false }),
                Judged::Cut => self.cut(),
            });
        }
        let mut checks = proof_checks(&run.workflow, &run.state).map(|(name, _)| name.clone());
        let names = checks.by_ref().collect::<Vec<_>>().join(", ");
        let shim = &mut self.shim;
        let mut execute = |order| shim.carry_out(run.state.epoch, order);
        match land::check(run, &git, &merge.commit, &mut execute)? {
            Ok(None) if names.is_empty() => {
                Ok(step(LandingStep::Proven { by: "the run has no check, so none was run".to_owned() }))
            }
            Ok(None) => Ok(step(LandingStep::Proven { by: format!("{names} passed in a worktree") })),
            Ok(Some(why)) => Ok(self.sent_back(run, &merge, vec![why])),
            Err(Cut) => Ok(self.cut()),
        }
    }

    /// Judges a merge, wherever it stands, by the clean checkout and the overlay, with its first parent as the
    /// base. Waivers carry over.
    pub(crate) fn judge(&mut self, run: &Run, git: &Git, merge: &Merge) -> anyhow::Result<Judged> {
        let branch = self.request(run)?;
        let request = ProofRequest {
            base: tree_of(git, &merge.from)?,
            base_commit: Some(merge.from.clone()),
            tree: merge.tree.clone(),
            tree_commit: Some(merge.commit.clone()),
            ..branch.clone()
        };
        let prover = self.prover(request)?;
        let mut said = Vec::new();
        for step in [ProofStep::Baseline, ProofStep::Clean, ProofStep::Overlay] {
            let Some(result) = self.take_step(&prover, step)? else { return Ok(Judged::Cut) };
            match &result.outcome {
                StepOutcome::NotRun(NotRun::Failed(why)) if step == ProofStep::Clean => {
                    return Ok(Judged::Unknown(format!("the merged tree could not be checked: {why}")));
                }
                StepOutcome::Ran(_) if step != ProofStep::Baseline => {
                    said.push(format!("{}: {}", step.words(), in_words(&result)));
                }
                StepOutcome::Ran(_) | StepOutcome::NotRun(_) => (),
            }
        }
        let proven = run.state.proven.as_ref().map(|it| it.tree.clone()).unwrap_or_default();
        let alone = self.prover(ProofRequest { tree: proven, ..branch })?.known(ProofStep::Clean);
        let evidence = ProofEvidence {
            commit: Some(merge.commit.clone()),
            waivers: run.state.waivers.clone(),
            allowed: run.workflow.proof.allow.clone(),
            approved: run.state.accepted,
            ..prover.evidence()?
        };
        let mut why = red_on_merge(&evidence.clean, alone.as_ref().map(|it| &it.outcome));
        why.extend(conclude(&evidence).findings.into_iter().map(|it| it.line));
        if why.is_empty() {
            let by = format!("{} (base: {} {})", said.join("; "), merge.into, short(&merge.from));
            return Ok(Judged::Holds(by));
        }
        Ok(Judged::Red(why))
    }

    /// Moves the target to the merge.
    pub(crate) fn move_target(&mut self, run: &Run, merge: &Merge) -> anyhow::Result<Performed> {
        self.forget_status();
        if let Err(performed) = self.merge_under_way(run)? {
            return Ok(performed);
        }
        let Ok((plan, _)) = land::target(run) else { anyhow::bail!("a merge has a target") };
        let git = Git::open(Path::new(&plan.root))?;
        let home = self.shim.listener.shared_home();
        Ok(match advance::advance(&git, &home, &self.ours_everywhere()?, merge)? {
            Moved::Done => {
                self.landed(Landing::Merged { into: merge.into.clone(), commit: merge.commit.clone() })
            }
            Moved::Elsewhere(why) => step(LandingStep::StartedOver { why, rejected: false }),
            Moved::InTheWay(why) => self.landed(Landing::Waits { why }),
        })
    }

    /// Asks how work stands that waits: merged by somebody else, or no longer kept back.
    pub(crate) fn look(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let hub = GitHub::of(run)?;
        if let (Some(hub), Some(question)) = (&hub, run.state.question())
            && let QuestionKind::Gate(name) = &question.kind
        {
            let gate = &run.workflow.gates[name];
            return Ok(Performed::Done(pull_request::look_at_gate(hub, question, name, gate)));
        }
        if hub.is_some() {
            return Ok(match self.land(run)? {
                Performed::Done(Event::Landed(landing)) => Performed::Done(Event::Looked(landing)),
                other => other,
            });
        }
        let found = match (land::look(run)?, &run.state.landing) {
            (Some(merged), _) => merged,
            (None, Some(waits @ Landing::Waits { .. })) => match land::target(run) {
                Ok((plan, target)) => {
                    let git = Git::open(Path::new(&plan.root))?;
                    let home = self.shim.listener.shared_home();
                    match advance::obstacle(&git, &home, &self.ours_everywhere()?, target)? {
                        Some(why) => Landing::Waits { why },
                        None => Landing::Clear,
                    }
                }
                Err(_) => waits.clone(),
            },
            (None, _) => Landing::Requested { at: "the branch is not merged".to_owned() },
        };
        Ok(Performed::Done(Event::Looked(found)))
    }

    /// The merge of the journal, if the target is where it was made; else what follows.
    fn merge_under_way(&mut self, run: &Run) -> anyhow::Result<Result<Merge, Performed>> {
        let merge = run.state.train.as_ref().and_then(|it| it.merge.clone());
        let (Some(merge), Ok((plan, _))) = (merge, land::target(run)) else {
            let why = "no merge is under way".to_owned();
            return Ok(Err(step(LandingStep::StartedOver { why, rejected: false })));
        };
        let git = Git::open(Path::new(&plan.root))?;
        if let Some(waits) = self.hold_branch(run, &git, &merge.into)? {
            return Ok(Err(waits));
        }
        let now = tip(&git, &merge.into)?.unwrap_or_default();
        if now == merge.from {
            return Ok(Ok(merge));
        }
        if is_ancestor(&git, &merge.commit, &now)? {
            let commit = merge.commit.clone();
            return Ok(Err(self.landed(Landing::Merged { into: merge.into, commit })));
        }
        let why = format!("{} is at {} now", merge.into, short(&now));
        Ok(Err(step(LandingStep::StartedOver { why, rejected: false })))
    }

    /// Takes the branch for this run's landing. Returns what happens instead while another has it.
    fn hold_branch(&mut self, run: &Run, git: &Git, branch: &str) -> anyhow::Result<Option<Performed>> {
        while self.landing.is_none() {
            match LandingLock::take(git.common_dir(), branch) {
                Ok(lock) => self.landing = Some(lock),
                Err(StoreError::Held { by, .. }) => {
                    let pid = by.as_ref().map(|it| it.pid);
                    let behind = match self.run_of(run, pid)? {
                        Some(other) => format!("run {other}"),
                        None => by.map_or_else(|| "another run".to_owned(), |it| it.to_string()),
                    };
                    let told = run.state.train.as_ref().and_then(|it| it.behind.as_ref());
                    if told != Some(&behind) {
                        return Ok(Some(step(LandingStep::Queued { behind })));
                    }
                    match self.shim.listener.listen(None, QUEUE_GLANCE)? {
                        WaitResult::Now { .. } | WaitResult::Command => return Ok(Some(Performed::Begun)),
                        WaitResult::Answer | WaitResult::Nothing => (),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// The run of this home that a process drives.
    fn run_of(&self, run: &Run, pid: Option<i32>) -> anyhow::Result<Option<String>> {
        let home = self.shim.listener.shared_home();
        let project = home.run(&run.id)?.map(|it| it.project).unwrap_or_default();
        let rows = home.runs(&Filter { project: Some(&project), ..Filter::default() })?;
        let is_its = |id: &str| home.holder(id).is_some_and(|it| Some(it.pid) == pid);
        Ok(rows.into_iter().find(|it| it.id != run.id && is_its(&it.id)).map(|it| it.id[..8].to_owned()))
    }

    /// Our own files in any tree of the project.
    fn ours_everywhere(&self) -> anyhow::Result<Ours> {
        let patterns = self.ours.patterns().iter().cloned().chain(domain_memory::written_paths());
        Ok(Ours::read(&patterns.collect::<Vec<String>>())?)
    }

    fn sent_back(&mut self, run: &Run, merge: &Merge, problems: Vec<String>) -> Performed {
        let place = run.state.opening.worktree.as_ref().map(|it| it.place.clone()).unwrap_or_default();
        let into = &merge.into;
        let more = problems.len().saturating_sub(TOLD);
        let mut why: Vec<String> = problems.into_iter().take(TOLD).collect();
        why.extend((0 < more).then(|| format!("and {more} more")));
        why.push(format!(
            "the branch passes by itself and fails together with what is in {into} now: in {place}, git merge \
             {into}, repair it and commit"
        ));
        self.landed(Landing::Collides { why })
    }

    /// The landing is over, and others may land.
    fn landed(&mut self, landing: Landing) -> Performed {
        self.landing = None;
        Performed::Done(Event::Landed(landing))
    }

    /// A person wants something first, and others do not wait for that.
    fn cut(&mut self) -> Performed {
        self.landing = None;
        Performed::Begun
    }
}

fn step(step: LandingStep) -> Performed {
    Performed::Done(Event::LandingStep(step))
}
