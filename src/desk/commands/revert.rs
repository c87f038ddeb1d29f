//! Taking a landed system out of its target again: under the lock of the landing, with the checks on the tree
//! as it would be, and moved as a merge is. Nobody is woken by it; the system is blocked, and those who
//! build on it are named.

use crate::deliver::remote::{Pushed, Remote};
use crate::deliver::train::advance::{self, Moved};
use crate::deliver::train::merge::tip;
use crate::deliver::train::revert::{Revert, prepare};
use crate::deliver::{land, merged};
use crate::desk::own_paths::own_paths;
use crate::desk::refusal::{NextStep, Refusal};
use crate::drive;
use crate::measure::checks::run_once::run_once;
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::world::wait::now;
use loop_core::engine::{Effect, Event, Landing, Merge, Outcome, Station, known_red};
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
    let git = Git::open(Path::new(&plan.root))?;
    let _landing = LandingLock::take(git.common_dir(), &into)?;
    let mut ours = own_paths(git.work_tree(), None, &run.workflow);
    ours.extend(domain_memory::written_paths());
    let ours = Ours::read(&ours)?;
    let mut refused = format!("{into} moved {TRIES} times during the revert");
    for _ in 0..TRIES {
        if let Some(why) = advance::obstacle(&git, home, &ours, &into)? {
            return Err(no(why, "git stash"));
        }
        let from = tip_of(&run, &git, &into)?;
        let made = match prepare(&git, &run.id, &into, &from, &merge)? {
            Revert::Done(commit) => return finished(&mut run, home, into, merge, commit),
            Revert::Not(why) => return Err(no(why, "loop queue list")),
            Revert::Make(made) => made,
        };
        if let Some(why) = red(&run, &git, &made)? {
            return Err(no(why, "loop queue list"));
        }
        drive::note(&mut run, [(now(), Event::Began(Effect::Move(made.clone())))]);
        run.commit()?;
        if let Some(remote) = Remote::of(&run, &git) {
            match remote.push_target(&made.commit)? {
                Pushed::Done => {
                    let behind = merged::follow_remote(&git, home, &into, &made.commit)?;
                    let reverted = finished(&mut run, home, into, merge, made.commit)?;
                    return Ok(Reverted { behind, ..reverted });
                }
                Pushed::Rejected(why) => refused = why,
                Pushed::Unreachable(why) => return Err(no(why, "loop queue list")),
            }
            continue;
        }
        match advance::advance(&git, home, &ours, &made)? {
            Moved::Done => return finished(&mut run, home, into, merge, made.commit),
            Moved::Elsewhere(_) => (),
            Moved::InTheWay(why) => return Err(no(why, "git stash")),
        }
    }
    Err(no(refused, "loop queue list"))
}

/// The tip that the merge is taken out of: the remote's, where a remote has the target.
fn tip_of(run: &Run, git: &Git, into: &str) -> anyhow::Result<String> {
    let Some(remote) = Remote::of(run, git) else {
        return tip(git, into)?.ok_or_else(|| no(format!("the branch {into} is gone"), "git branch"));
    };
    let there = remote.fetch().map_err(|why| no(why, "git fetch"))?;
    match remote.unpushed(&there)? {
        Some(why) => Err(no(why, &format!("git push {} {into}", remote.name))),
        None => Ok(there),
    }
}

fn no(why: String, next: &str) -> anyhow::Error {
    Refusal { text: format!("nothing was reverted: {why}"), next: Some(NextStep::from(next)), exit: 4 }.into()
}

fn finished(
    run: &mut Run,
    home: &Rc<Home>,
    into: String,
    merge: String,
    commit: String,
) -> anyhow::Result<Reverted> {
    let landing = Landing::Reverted { into: into.clone(), commit: commit.clone() };
    // A run that waited because its merge is red has nothing to wait for any more.
    let over =
        (!matches!(run.state.station, Station::Closed(_))).then_some(Event::Closed(Outcome::Cancelled));
    drive::note(run, [Event::Landed(landing)].into_iter().chain(over).map(|it| (now(), it)));
    run.commit()?;
    let place = run.state.opening.worktree.as_ref().map(|it| it.root.clone()).unwrap_or_default();
    loop_store::mirror::restore(home, &run.id, &run.workflow, &run.state, Path::new(&place));
    Ok(Reverted { into, merge, commit, behind: None })
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
            return Ok(Some(format!("without it {}", once.words())));
        }
    }
    Ok(None)
}
