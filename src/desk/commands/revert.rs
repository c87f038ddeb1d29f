//! Taking a landed system out of its target again: under the lock of the landing, with the checks on the tree
//! as it would be, and moved as a merge is. Nobody is woken by it; the system is blocked, and those who
//! build on it are named.

use crate::deliver::remote::{Pushed, Remote};
use crate::deliver::train::advance::{self, Moved};
use crate::deliver::train::merge::{short, tip};
use crate::deliver::train::revert::{Revert, prepare};
use crate::deliver::{land, merged};
use crate::desk::idle_world::{IdleWorld, keep_mirrors};
use crate::desk::own_paths::own_paths;
use crate::desk::refusal::{NextStep, Refusal};
use crate::drive::{self, Performed, World};
use crate::measure::checks::run_once::run_once;
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::world::wait::now;
use anyhow::Context;
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, Landing, Merge, News, known_red};
use loop_store::mirror::domain_memory;
use loop_store::run::Run;
use loop_store::{Home, LandingLock};
use loop_supervise::foreground;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Installing the dependencies of a large project takes minutes; half an hour is a network that is gone.
const PREPARE_MOST: Duration = Duration::from_secs(1_800);

/// So often the target may move meanwhile.
const TRIES: u32 = 3;

/// What was taken out.
pub(crate) struct Reverted {
    pub(crate) into: String,
    /// The commit that had brought it.
    pub(crate) merge: String,
    /// The commit that took it out.
    pub(crate) commit: String,
    /// Why the branch here does not have it yet, where a remote has it.
    pub(crate) behind: Option<String>,
}

/// Takes the merge of a run out of its target.
pub(crate) fn revert(home: &Rc<Home>, id: &str) -> anyhow::Result<Reverted> {
    let mut run = Run::open(Rc::clone(home), id, now())?;
    let (into, merge) = match &run.state.landing {
        Some(Landing::Merged { into, commit } | Landing::Red { into, commit, .. }) => {
            (into.clone(), commit.clone())
        }
        Some(Landing::Reverted { into, commit }) => {
            return Err(no(format!("it was already reverted on {into}, by {commit}"), "loop queue list"));
        }
        Some(_) | None => return Err(no("its run has not landed".to_owned(), "loop queue list")),
    };
    let Some(plan) = run.state.opening.worktree.clone() else {
        return Err(no("its run had no worktree".to_owned(), "loop queue list"));
    };
    let git = Git::open(Path::new(&plan.root))?.trusting(run.state.opening.git_programs());
    let _landing = LandingLock::take(git.common_dir(), &into)?;
    let mut ours = own_paths(git.work_tree(), None, &run.workflow);
    ours.extend(domain_memory::written_paths());
    let ours = Ours::read(&ours)?;
    // What is in the way says itself how it goes away.
    let again = format!("loop queue revert {}", run.state.opening.input);
    let mut refused = (format!("{into} moved {TRIES} times during the revert"), again.as_str().into());
    for _ in 0..TRIES {
        if let Some(why) = advance::obstacle(&git, home, &ours, &into)? {
            return Err(no(why, again.as_str()));
        }
        let from = tip_of(&run, &git, &into)?;
        let made = match prepare(&git, &run.id, &into, &from, &merge)? {
            Revert::Done(commit) => {
                let reverted = Landing::Reverted { into: into.clone(), commit: commit.clone() };
                let news = IdleWorld::new(home, git.work_tree()).with(News::Landed(reverted));
                return finished(run, news, Reverted { into, merge, commit, behind: None });
            }
            Revert::Not(why) => return Err(no(why, "loop queue list")),
            Revert::Conflicts(files) => return Err(conflicts(&files, &merge, &again)),
            Revert::Make(made) => made,
        };
        if let Some(why) = red(&run, &git, &made).context("nothing was reverted")? {
            let help = "repair what fails without it, or revert the systems that need it first";
            return Err(no(why, NextStep::by_hand(format!("{help}; then {again}"))));
        }
        let mut world = RevertWorld { home, git: &git, ours: &ours, tried: Tried::Not };
        drive::carry_out(&mut run, &mut world, &Effect::Move(made.clone()))?;
        match world.tried {
            Tried::Done { behind } => {
                let idle = IdleWorld::new(home, git.work_tree());
                return finished(run, idle, Reverted { into, merge, commit: made.commit, behind });
            }
            Tried::Rejected(why) => {
                let help = format!("do what the remote asks for, then {again}");
                refused = (why, NextStep::by_hand(help));
            }
            Tried::Refused(why) => return Err(no(why, again.as_str())),
            Tried::Not => (),
        }
    }
    Err(no(refused.0, refused.1))
}

/// Git can revert it, if a person says which lines stay.
fn conflicts(files: &[String], merge: &str, again: &str) -> anyhow::Error {
    let why = format!("later commits change the same lines: {}", files.join(", "));
    let help = format!("git revert -m 1 {}, resolve the conflicts and commit; then {again}", short(merge));
    no(why, NextStep::by_hand(help))
}

/// The tip that the merge is taken out of: the remote's, where a remote has the target.
fn tip_of(run: &Run, git: &Git, into: &str) -> anyhow::Result<String> {
    let Some(remote) = Remote::of(run, git) else {
        return tip(git, into)?.ok_or_else(|| no(format!("the branch {into} is gone"), "git branch"));
    };
    let there = remote.fetch().map_err(|why| no(why, "git fetch"))?;
    match remote.unpushed(&there)? {
        Some(why) => Err(no(why, format!("git push {} {into}", remote.name))),
        None => Ok(there),
    }
}

fn no(why: String, next: impl Into<NextStep>) -> anyhow::Error {
    Refusal { text: format!("nothing was reverted: {why}"), next: Some(next.into()), exit: 4 }.into()
}

/// Makes durable what came of it; a run that waited for its merge is over.
fn finished(mut run: Run, mut world: IdleWorld<'_>, reverted: Reverted) -> anyhow::Result<Reverted> {
    drive::drive(&mut run, &mut world)?;
    Ok(reverted)
}

/// What came of one try to move the target.
enum Tried {
    /// The target moved meanwhile.
    Not,
    Done {
        behind: Option<String>,
    },
    /// The remote took something else first.
    Rejected(String),
    /// Why it cannot be done.
    Refused(String),
}

/// A world that moves a target, and begins nothing else.
struct RevertWorld<'a> {
    home: &'a Home,
    git: &'a Git,
    ours: &'a Ours,
    tried: Tried,
}

impl RevertWorld<'_> {
    fn move_target(&self, run: &Run, made: &Merge) -> anyhow::Result<Tried> {
        if let Some(remote) = Remote::of(run, self.git) {
            return Ok(match remote.push_target(&made.commit)? {
                Pushed::Done => Tried::Done {
                    behind: merged::follow_remote(self.git, self.home, &made.into, &made.commit)?,
                },
                Pushed::Rejected(why) => Tried::Rejected(why),
                Pushed::Unreachable(why) => Tried::Refused(why),
            });
        }
        Ok(match advance::advance(self.git, self.home, self.ours, made)? {
            Moved::Done => Tried::Done { behind: None },
            Moved::Elsewhere(_) => Tried::Not,
            Moved::InTheWay(why) => Tried::Refused(why),
        })
    }
}

impl World for RevertWorld<'_> {
    fn now(&self) -> Timestamp {
        now()
    }

    fn takes(&self, effect: &Effect) -> bool {
        matches!(effect, Effect::Move(_))
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        let Effect::Move(made) = effect else { return Ok(Performed::Elsewhere) };
        self.tried = self.move_target(run, made)?;
        Ok(match &self.tried {
            Tried::Done { .. } => {
                let (into, commit) = (made.into.clone(), made.commit.clone());
                Performed::Done(Event::Landed(Landing::Reverted { into, commit }))
            }
            Tried::Not | Tried::Rejected(_) | Tried::Refused(_) => Performed::Begun,
        })
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News> {
        keep_mirrors(self.home, self.git.work_tree(), run, facts)
    }
}

/// Says which check fails without the system, tests aside that failed before it was begun.
fn red(run: &Run, git: &Git, made: &Merge) -> anyhow::Result<Option<String>> {
    let room = land::checkout(&run.folder(), git, &made.commit)?;
    let found = checks(run, &room);
    land::remove(git, &room);
    found
}

fn checks(run: &Run, room: &Path) -> anyhow::Result<Option<String>> {
    if let Some(prepare) = &run.workflow.workspace.prepare
        && !foreground::run_check(prepare, &run.id, room, PREPARE_MOST)?.is_done
    {
        return Ok(Some(format!("the tree without it cannot be prepared: {prepare}")));
    }
    let before = run.state.baseline_results();
    for once in run_once(&run.workflow, &run.state.commands, room, &run.id)? {
        let was = before.iter().find(|it| it.name == once.name).and_then(|it| it.counts.as_ref());
        let is_known = once
            .tests
            .as_ref()
            .zip(was)
            .is_some_and(|(now, was)| 0 < now.failing && known_red(now, was) == now.failing);
        if !once.is_passed() && !is_known {
            return Ok(Some(format!("without it, {}", once.words())));
        }
    }
    Ok(None)
}
