//! Bringing proven work to where it is to go, by a merge in this repository. The merge is made without
//! touching any working tree; where the target has moved since the work began, the merged tree is checked
//! first, in a worktree of its own. Only then does the branch move, and never under somebody who works on it:
//! a tree that has it checked out is taken along by a fast-forward, which git refuses where local changes
//! are in the way. Everything here can be done again after a crash, and finds what was done.

use crate::deliver::completion::{CompletionBox, Standing, boxes};
use crate::measure::checks::check_folder::CheckFolder;
use crate::measure::checks::run_checks::{Cut, Execute, order};
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::single_line;
use crate::tree::worktree::{self, commit_of};

use loop_core::engine::{Landing, Worktree, proof_checks};
use loop_core::workflow::model::Millis;
use loop_store::run::Run;
use loop_store::{Home, StoreError, TreeLock};
use std::path::{Path, PathBuf};

/// Where the merged tree is checked, below the folder of the run.
const ROOM: &str = "landing";

/// How long one check of the merged tree may take where it says nothing itself.
const CHECK_MS: Millis = 1_800_000;

/// Merges the work of a run, or says why it is kept back.
pub(crate) fn land(
    run: &Run,
    home: &Home,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<Landing, Cut>> {
    let kept_back = |why: String| Ok(Ok(Landing::Not { why, unreviewed: false }));
    let (plan, target) = match may_land(run) {
        Ok(found) => found,
        Err(why) => return kept_back(why),
    };
    let git = Git::open(Path::new(&plan.root))?;
    let merge = match Merge::prepare(&git, run, plan, target)? {
        Ok(merge) => merge,
        Err(landing) => return Ok(Ok(landing)),
    };
    if let Some(commit) = merge.done {
        return Ok(Ok(Landing::Merged { into: target.to_owned(), commit }));
    }
    if merge.has_moved {
        match check(run, &git, &merge.commit, execute)? {
            Ok(None) => (),
            Ok(Some(why)) => return kept_back(why),
            Err(cut) => return Ok(Err(cut)),
        }
    }
    match advance(&git, home, target, &merge.from, &merge.commit)? {
        None => Ok(Ok(Landing::Merged { into: target.to_owned(), commit: merge.commit })),
        Some(why) => kept_back(why),
    }
}

/// Returns where the work of a run goes from and to, or why it goes nowhere yet.
pub(crate) fn may_land(run: &Run) -> Result<(&Worktree, &str), String> {
    let plan = run.state.opening.worktree.as_deref();
    let plan = plan.ok_or("the run has no worktree, so there is no branch to merge")?;
    let Some(target) = plan.target.as_deref() else {
        return Err(format!(
            "the project was on no branch when the run began; merge {} by hand, then loop resume",
            plan.branch
        ));
    };
    if !run.state.is_proven() && !run.workflow.proof.accept_unverified {
        let why = run.state.closing(&run.workflow).unwrap_or_else(|| "nothing proves the work".to_owned());
        return Err(format!("the run is not verified: {why}"));
    }
    let is_open = |it: &CompletionBox| matches!(it.standing, Standing::Open(_));
    match boxes(&run.workflow, &run.state).into_iter().find(is_open) {
        Some(open) => Err(format!("a box of the completion is open: {}", open.line())),
        None => Ok((plan, target)),
    }
}

/// Returns the commit that was proven, or why the branch has to be reviewed again.
pub(crate) fn proven_tip(git: &Git, run: &Run, plan: &Worktree) -> anyhow::Result<Result<String, Landing>> {
    let tip = commit_of(git, &format!("refs/heads/{}", plan.branch))?.unwrap_or_default();
    let proven = run.state.proven.as_ref().map(|it| it.commit.clone()).unwrap_or_default();
    if tip == proven {
        return Ok(Ok(tip));
    }
    let why = format!(
        "{} was changed after the review: it is at {} and {} was proven",
        plan.branch,
        short(&tip),
        short(&proven)
    );
    Ok(Err(Landing::Not { why, unreviewed: true }))
}

/// Says whether work that was kept back or handed over has come to its target by now.
pub(crate) fn look(run: &Run) -> anyhow::Result<Landing> {
    let waits = || Landing::Requested { at: "the branch is not merged".to_owned() };
    let Some(plan) = run.state.opening.worktree.as_deref() else { return Ok(waits()) };
    let (Some(target), Some(proven)) = (plan.target.as_deref(), run.state.proven.as_ref()) else {
        return Ok(waits());
    };
    let git = Git::open(Path::new(&plan.root))?;
    let tip = commit_of(&git, &format!("refs/heads/{target}"))?.unwrap_or_default();
    Ok(match is_ancestor(&git, &proven.commit, &tip)? {
        true => Landing::Merged { into: target.to_owned(), commit: tip },
        false => waits(),
    })
}

/// A merge that was made and stands nowhere yet.
struct Merge {
    /// The target as it was.
    from: String,
    commit: String,
    /// The target is not where the work began, so the merged tree is another one.
    has_moved: bool,
    /// It was merged before, as this commit.
    done: Option<String>,
}

impl Merge {
    fn prepare(
        git: &Git,
        run: &Run,
        plan: &Worktree,
        target: &str,
    ) -> anyhow::Result<Result<Merge, Landing>> {
        let not = |why: String| Ok(Err(Landing::Not { why, unreviewed: false }));
        let Some(from) = commit_of(git, &format!("refs/heads/{target}"))? else {
            return not(format!("the branch {target} is gone"));
        };
        let tip = match proven_tip(git, run, plan)? {
            Ok(tip) => tip,
            Err(landing) => return Ok(Err(landing)),
        };
        if is_ancestor(git, &tip, &from)? {
            let done = Some(from.clone());
            return Ok(Ok(Merge { commit: from.clone(), from, has_moved: false, done }));
        }
        let commit = match self::merge(git, run, &from, &tip)? {
            Ok(commit) => commit,
            Err(landing) => return Ok(Err(landing)),
        };
        let has_moved = from != plan.base;
        Ok(Ok(Merge { from, commit, has_moved, done: None }))
    }
}

/// Merges a commit into another, in memory: nobody's files move, and no branch. Returns the merge.
pub(super) fn merge(git: &Git, run: &Run, from: &str, tip: &str) -> anyhow::Result<Result<String, Landing>> {
    let opening = &run.state.opening;
    let tree = match git.run(["merge-tree", "--write-tree", "--no-messages", from, tip]) {
        Ok(output) => single_line(&output).lines().next().unwrap_or_default().to_owned(),
        Err(GitError::Failed { code: Some(1), .. }) => {
            let plan = opening.worktree.as_deref().cloned().unwrap_or_default();
            let target = plan.target.unwrap_or_default();
            let why = format!(
                "{} and {target} change the same lines; first merge {target} into the branch in {} and commit",
                plan.branch, plan.place
            );
            return Ok(Err(Landing::Not { why, unreviewed: true }));
        }
        Err(error) => return Err(error.into()),
    };
    let name = opening.beginning.title.as_deref().unwrap_or(&opening.input);
    let message = format!("Merge {}: {name}\n\nLoop-Run: {}\n", opening.input, run.id);
    match git.durable().run(["commit-tree", &tree, "-p", from, "-p", tip, "-m", &message]) {
        Ok(output) => Ok(Ok(single_line(&output))),
        Err(GitError::Failed { stderr, .. }) => {
            let why = stderr.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
            let why = format!("the merge could not be committed: {why}");
            Ok(Err(Landing::Not { why, unreviewed: false }))
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs every check that proves the work on the merged tree. Says what failed.
pub(super) fn check(
    run: &Run,
    git: &Git,
    commit: &str,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<Option<String>, Cut>> {
    let room = run.folder().join(ROOM);
    remove(git, &room);
    let place = room.to_string_lossy().into_owned();
    git.without_repository_drivers()?
        .run(["worktree", "add", "--quiet", "--detach", "--", &place, commit])?;
    let prepare =
        run.workflow.workspace.prepare.iter().map(|it| ("prepare".to_owned(), it.clone(), CHECK_MS));
    let checks = proof_checks(&run.workflow, &run.state)
        .map(|(name, command)| (name.clone(), command.clone(), run.workflow.checks[name].timeout));
    let commands: Vec<(String, String, Millis)> = prepare.chain(checks).collect();
    let in_place = CheckFolder::in_place(&room);
    let mut failed = None;
    for (name, command, timeout) in commands {
        let stem = format!("landing-{name}");
        match execute(order(&run.id, &stem, &command, timeout, &in_place.path))? {
            Ok(ending) if ending.code == Some(0) => (),
            Ok(_) => {
                failed = Some(format!(
                    "the check \"{name}\" fails on the merged tree ({}); the log is {}",
                    short(commit),
                    run.folder().join(format!("{stem}.log")).display()
                ));
                break;
            }
            Err(cut) => {
                remove(git, &room);
                return Ok(Err(cut));
            }
        }
    }
    remove(git, &room);
    Ok(Ok(failed))
}

/// Removes the worktree of ours in which a merge was checked.
fn remove(git: &Git, room: &Path) {
    let place = room.to_string_lossy().into_owned();
    let _may_be_absent = git.run(["worktree", "remove", "--force", "--", &place]);
    let _may_be_absent = std::fs::remove_dir_all(room);
}

/// Moves the target to the merge. Says what is in the way.
pub(super) fn advance(
    git: &Git,
    home: &Home,
    target: &str,
    from: &str,
    commit: &str,
) -> anyhow::Result<Option<String>> {
    let Some(place) = checked_out(git, target)? else {
        let name = format!("refs/heads/{target}");
        let moved = git.durable().run(["update-ref", "-m", "loop: merge", &name, commit, from]);
        return Ok(moved
            .err()
            .map(|error| format!("{target} moved meanwhile ({error}); loop resume tries again")));
    };
    // Whoever works in that tree is not to find other files under it.
    let _held = match TreeLock::take(home.path(), &place) {
        Ok(lock) => lock,
        Err(StoreError::Held { .. }) => {
            return Ok(Some(format!(
                "another run works in {}, which has {target} checked out; loop resume tries again",
                place.display()
            )));
        }
        Err(error) => return Err(error.into()),
    };
    let there = Git::open(&place)?;
    match there.durable().run(["merge", "--ff-only", "--quiet", "--no-verify-signatures", commit]) {
        Ok(_) => Ok(None),
        Err(GitError::Failed { stderr, .. }) => {
            let why = stderr.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
            Ok(Some(format!(
                "{} has local changes that the merge would touch: {why}; commit or move them, then loop resume",
                place.display()
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the working tree that has a branch checked out.
fn checked_out(git: &Git, branch: &str) -> Result<Option<PathBuf>, GitError> {
    let name = format!("refs/heads/{branch}");
    Ok(worktree::entries(git)?.into_iter().find(|it| it.branch.as_ref() == Some(&name)).map(|it| it.path))
}

pub(super) fn is_ancestor(git: &Git, commit: &str, of: &str) -> Result<bool, GitError> {
    if commit.is_empty() || of.is_empty() {
        return Ok(false);
    }
    match git.run(["merge-base", "--is-ancestor", commit, of]) {
        Ok(_) => Ok(true),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn short(commit: &str) -> &str {
    if commit.is_empty() { "no commit" } else { commit.get(..12).unwrap_or(commit) }
}
