//! The steps of a landing, as effects of a run: merging with the target as it is, proving the merged tree,
//! moving the target. One run lands on a branch at a time, so a kernel lock is held from the first step to
//! the last; whoever comes later waits for it and says so. After a crash the steps begin where the journal
//! stands, and each asks first where the target is. Where a remote has the target, its tip counts: the merge
//! is pushed, and the branch here follows.

use crate::deliver::github::GitHub;
use crate::deliver::merged::{self, Arrival, Judged};
use crate::deliver::remote::{Pushed, Remote};
use crate::deliver::train::advance::{self, Moved};
use crate::deliver::train::merge::{Work, short, tip};
use crate::deliver::{land, pull_request};
use crate::drive::Performed;
use crate::tree::changes::is_ancestor;
use crate::tree::git::{Git, GitError};
use crate::tree::path_patterns::Ours;
use crate::world::effects::foreign;
use crate::world::real::Host;
use crate::world::wait::WaitResult;
use loop_core::engine::{Event, Landing, LandingStep, Merge, News, QuestionKind, Worktree};
use loop_core::workflow::model::MergeBy;
use loop_store::mirror::domain_memory;
use loop_store::run::Run;
use loop_store::{Filter, LandingLock, StoreError};
use std::path::Path;
use std::time::Duration;

/// How often somebody who waits for another's landing looks whether it is over. A landing takes seconds at
/// least, and nothing wakes those who wait for a kernel lock and for commands at once.
const QUEUE_GLANCE: Duration = Duration::from_millis(250);

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
        let git = project_git(run, work.plan)?;
        if let Some(waits) = self.hold_branch(run, &git, work.target)? {
            return Ok(waits);
        }
        if let Some(foreign) = foreign::unanswered(run, &git)? {
            return Ok(self.landed(foreign));
        }
        let from = match target_tip(run, &git, work.target)? {
            Ok(from) => from,
            Err(landing) => return Ok(self.landed(landing)),
        };
        if let Some(commit) = work.landed_as(&git, &from)? {
            return self.found_merged(run, &git, &work, &commit, &from);
        }
        match work.merge_with(&git, &from)? {
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
        if run.workflow.merge.by == MergeBy::Loop
            && let Some(waits) = self.hold_branch(run, &hub.git, hub.target)?
        {
            return Ok(Some(waits));
        }
        let home = self.shim.listener.shared_home();
        let landed = pull_request::land(&hub, &home, &mut |merge| self.prove_tree(run, &hub.git, merge))?;
        self.notes.extend(hub.notes.take().into_iter().map(News::Noted));
        Ok(Some(match landed {
            Some(landing) => self.landed(landing),
            None => self.cut(),
        }))
    }

    /// Work that is part of the target already, and not by us: what came of it is proven like a merge of our own.
    fn found_merged(
        &mut self,
        run: &Run,
        git: &Git,
        work: &Work<'_>,
        commit: &str,
        tip: &str,
    ) -> anyhow::Result<Performed> {
        let by = "it was merged by somebody".to_owned();
        let arrival = Arrival { into: work.target, commit, tip, by, proven: None };
        let landing = merged::arrived(run, git, &arrival, &mut |merge| self.prove_tree(run, git, merge))?;
        if let Some(Landing::Merged { into, commit }) = &landing {
            self.follow(run, git, into, commit)?;
        }
        Ok(match landing {
            Some(landing) => self.landed(landing),
            None => self.cut(),
        })
    }

    /// Brings the branch here to where its remote is, or says why it stays behind.
    fn follow(&mut self, run: &Run, git: &Git, into: &str, commit: &str) -> anyhow::Result<()> {
        if Remote::of(run, git).is_some() {
            let home = self.shim.listener.shared_home();
            let behind = merged::follow_remote(git, &home, into, commit)?;
            let text = behind.map(|why| format!("{into} does not have the merge yet: {why}"));
            self.notes.extend(text.map(News::Noted));
        }
        Ok(())
    }

    /// Finds out whether the merged tree holds.
    pub(crate) fn prove_merge(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.forget_status();
        let merge = match self.merge_under_way(run)? {
            Ok(merge) => merge,
            Err(performed) => return Ok(performed),
        };
        let Ok((plan, _)) = land::target(run) else { anyhow::bail!("a merge has a target") };
        let git = project_git(run, plan)?;
        Ok(match self.prove_tree(run, &git, &merge)? {
            Judged::Holds(by) => step(LandingStep::Proven { by }),
            Judged::Red(why) => self.landed(merged::sent_back(run, &merge, why)),
            Judged::Unknown(why) => self.landed(Landing::Not { why, unreviewed: false }),
            Judged::Cut => self.cut(),
        })
    }

    /// Moves the target to the merge: the remote's first, where it has one, and then the branch here.
    pub(crate) fn move_target(&mut self, run: &Run, merge: &Merge) -> anyhow::Result<Performed> {
        self.forget_status();
        if let Err(performed) = self.merge_under_way(run)? {
            return Ok(performed);
        }
        let Ok((plan, _)) = land::target(run) else { anyhow::bail!("a merge has a target") };
        let git = project_git(run, plan)?;
        let home = self.shim.listener.shared_home();
        let landed = Landing::Merged { into: merge.into.clone(), commit: merge.commit.clone() };
        let Some(remote) = Remote::of(run, &git) else {
            return Ok(match advance::advance(&git, &home, &self.ours_everywhere()?, merge)? {
                Moved::Done => self.landed(landed),
                Moved::Elsewhere(why) => step(LandingStep::StartedOver { why, rejected: false }),
                Moved::InTheWay(why) => self.landed(Landing::Waits { why }),
            });
        };
        // Whatever keeps the branch here from following is found before anything leaves the house.
        let in_the_way = match remote.unpushed(&merge.commit)? {
            Some(why) => Some(why),
            None => advance::obstacle(&git, &home, &self.ours_everywhere()?, &merge.into)?,
        };
        if let Some(why) = in_the_way {
            return Ok(self.landed(Landing::Waits { why }));
        }
        Ok(match remote.push_target(&merge.commit)? {
            Pushed::Done => {
                self.follow(run, &git, &merge.into, &merge.commit)?;
                self.landed(landed)
            }
            Pushed::Rejected(why) => step(LandingStep::StartedOver { why, rejected: true }),
            Pushed::Unreachable(why) => self.landed(Landing::Waits { why }),
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
        let looked = match hub {
            Some(_) => self.land(run)?,
            None => self.look_here(run)?,
        };
        Ok(match looked {
            Performed::Done(Event::Landed(landing)) => Performed::Done(Event::Looked(landing)),
            other => other,
        })
    }

    fn look_here(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let subject = land::subject(run);
        let work = match land::work(run, &subject) {
            Ok(work) => work,
            Err(landing) => return Ok(self.landed(landing)),
        };
        let git = project_git(run, work.plan)?;
        let from = match target_tip(run, &git, work.target)? {
            Ok(from) => from,
            Err(landing) => return Ok(self.landed(landing)),
        };
        if let Some(commit) = work.landed_as(&git, &from)? {
            return self.found_merged(run, &git, &work, &commit, &from);
        }
        if !matches!(run.state.landing, Some(Landing::Waits { .. })) {
            return Ok(self.landed(Landing::Requested { at: "the branch is not merged".to_owned() }));
        }
        let home = self.shim.listener.shared_home();
        Ok(match advance::obstacle(&git, &home, &self.ours_everywhere()?, work.target)? {
            Some(why) => self.landed(Landing::Waits { why }),
            None => self.landed(Landing::Clear),
        })
    }

    /// The merge of the journal, if the target is where it was made; else what follows. Where a remote has the
    /// target is found out by the push.
    fn merge_under_way(&mut self, run: &Run) -> anyhow::Result<Result<Merge, Performed>> {
        let merge = run.state.train.as_ref().and_then(|it| it.merge.clone());
        let (Some(merge), Ok((plan, _))) = (merge, land::target(run)) else {
            let why = "no merge is under way".to_owned();
            return Ok(Err(step(LandingStep::StartedOver { why, rejected: false })));
        };
        let git = project_git(run, plan)?;
        if let Some(waits) = self.hold_branch(run, &git, &merge.into)? {
            return Ok(Err(waits));
        }
        if Remote::of(run, &git).is_some() {
            return Ok(Ok(merge));
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

/// Opens the project that the target is in.
fn project_git(run: &Run, plan: &Worktree) -> Result<Git, GitError> {
    Ok(Git::reopen(Path::new(&plan.root))?.trusting(run.state.opening.git_programs()))
}

/// The tip of the target that counts: the remote's, where a remote has it. Else what the landing waits for.
fn target_tip(run: &Run, git: &Git, target: &str) -> Result<Result<String, Landing>, GitError> {
    let Some(remote) = Remote::of(run, git) else {
        let gone = || Landing::Not { why: format!("the branch {target} is gone"), unreviewed: false };
        return Ok(tip(git, target)?.ok_or_else(gone));
    };
    let there = match remote.fetch() {
        Ok(there) => there,
        Err(why) => return Ok(Err(Landing::Waits { why })),
    };
    Ok(match remote.unpushed(&there)? {
        Some(why) => Err(Landing::Waits { why }),
        None => Ok(there),
    })
}
