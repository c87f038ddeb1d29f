//! Moving the target to a merge. A tree that has the target checked out is taken along by a fast-forward while
//! it is clean; where somebody is at work in it, the merge waits. A target that nobody has checked out moves
//! by comparing and swapping.

use super::merge::{short, tip};

use crate::tree::changes::is_ancestor;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::listed_paths;
use crate::tree::path_patterns::Ours;
use crate::tree::tree_status::shown;
use crate::tree::worktree::{self, WorktreeEntry};
use loop_base::text::shell_word;
use loop_core::engine::Merge;
use loop_store::{Home, StoreError, TreeLock};
use rustix::event::{Timespec, poll};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files of somebody's that are named.
const FILES_NAMED: usize = 5;

/// The git of a controller that was killed may still be at work: it needs seconds where there are many files.
const ORPHAN_MOST: Duration = Duration::from_secs(20);
const ORPHAN_LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// What came of moving a target.
#[derive(Debug)]
pub(crate) enum Moved {
    Done,
    /// The target is not where it was.
    Elsewhere(String),
    /// Something of somebody's is in the way.
    InTheWay(String),
}

/// Moves the target to the merge, unless it is there.
pub(crate) fn advance(git: &Git, home: &Home, ours: &Ours, merge: &Merge) -> anyhow::Result<Moved> {
    if let Some(known) = stands(git, merge)? {
        return Ok(known);
    }
    let trees = worktree::entries(git)?;
    if let Some(place) = rebased_in(git, &trees, &merge.into) {
        return Ok(Moved::InTheWay(rebasing(&place, &merge.into)));
    }
    let Some(place) = checked_out(&trees, &merge.into) else {
        let name = format!("refs/heads/{}", merge.into);
        let moved = git.durable().run(["update-ref", "-m", "loop: merge", &name, &merge.commit, &merge.from]);
        return match (moved, stands(git, merge)?) {
            (_, Some(known)) => Ok(known),
            (Ok(_), None) => Ok(Moved::Elsewhere(format!("{} was moved back", merge.into))),
            (Err(error), None) => Err(error.into()),
        };
    };
    // Whoever works in that tree is not to find other files under it.
    let _held = match TreeLock::take(home.path(), &place) {
        Ok(lock) => lock,
        Err(StoreError::Held { .. }) => return Ok(Moved::InTheWay(held(&place, &merge.into))),
        Err(error) => return Err(error.into()),
    };
    let there = git.reopen_other(&place)?.without_drivers()?;
    if let Some(why) = local_changes(&there, ours, &merge.into)? {
        return Ok(Moved::InTheWay(why));
    }
    let until = Instant::now() + ORPHAN_MOST;
    loop {
        // A file that git ignores is somebody's all the same, and nothing brings it back.
        let moved = there.durable().run([
            "merge",
            "--ff-only",
            "--quiet",
            "--no-verify-signatures",
            "--no-overwrite-ignore",
            &merge.commit,
        ]);
        // Whatever was said, the target's tip decides.
        if let Some(known) = stands(git, merge)? {
            return Ok(known);
        }
        match moved {
            Err(GitError::Failed { stderr, .. }) if stderr.contains(".lock") && Instant::now() < until => {
                let _nothing_wakes_it = poll(&mut [], Some(&ORPHAN_LOOK_EVERY));
            }
            Err(GitError::Failed { stderr, .. }) => {
                return Ok(Moved::InTheWay(in_the_way(&place, &merge.into, &stderr)));
            }
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(Moved::Elsewhere(format!("{} was moved back", merge.into))),
        }
    }
}

/// Says what is in the way of moving a branch, where that can be seen beforehand.
pub(crate) fn obstacle(git: &Git, home: &Home, ours: &Ours, branch: &str) -> anyhow::Result<Option<String>> {
    let trees = worktree::entries(git)?;
    if let Some(place) = rebased_in(git, &trees, branch) {
        return Ok(Some(rebasing(&place, branch)));
    }
    let Some(place) = checked_out(&trees, branch) else { return Ok(None) };
    match TreeLock::take(home.path(), &place) {
        Ok(_) => {
            local_changes(&git.reopen_other(&place)?.without_drivers()?, ours, branch).map_err(Into::into)
        }
        Err(StoreError::Held { .. }) => Ok(Some(held(&place, branch))),
        Err(error) => Err(error.into()),
    }
}

fn held(place: &Path, branch: &str) -> String {
    format!("another run works in {}, which has {branch} checked out", place.display())
}

fn rebasing(place: &Path, branch: &str) -> String {
    format!("{} is in the middle of a rebase of {branch}; finish it, or git rebase --abort", place.display())
}

/// The files that git names, or what else it says. Its lines come as one, in which two spaces stand before each file.
fn in_the_way(place: &Path, branch: &str, stderr: &str) -> String {
    let place = place.display();
    let files = stderr.split_once("overwritten by merge:").and_then(|(_, rest)| rest.split_once("Please "));
    match files {
        Some((files, _)) => {
            let files = files.trim().split("  ").collect::<Vec<_>>().join(", ");
            format!("{place} has local files that the merge would touch: {files}; commit or move them")
        }
        None => format!("{branch} cannot be fast-forwarded in {place}: {stderr}"),
    }
}

/// Changes of somebody's in files that git knows, our own aside. A stash of everything would take our own files
/// along, which are written again at once, so that it could not be taken back.
fn local_changes(there: &Git, ours: &Ours, branch: &str) -> Result<Option<String>, GitError> {
    let mut changed: Vec<PathBuf> = Vec::new();
    for staged in [&["--cached"][..], &[]] {
        let words = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"].iter().chain(staged);
        let listing = there.run(words.chain(&["HEAD", "--"]))?;
        changed.extend(listed_paths(&listing).filter(|it| !ours.holds(it)));
    }
    changed.sort();
    changed.dedup();
    let place = there.work_tree().display();
    Ok((!changed.is_empty()).then(|| {
        let named = shown(&changed, FILES_NAMED);
        let words: Vec<String> = match changed.len() {
            ..=FILES_NAMED => changed.iter().map(|it| shell_word(&it.to_string_lossy())).collect(),
            _ => vec!["FILE...".to_owned()],
        };
        format!(
            "{place} has {branch} checked out and uncommitted changes in {named}; commit them or \
             git stash push -- {}",
            words.join(" ")
        )
    }))
}

/// What the target's tip says about a merge; nothing while it is where the merge was made.
fn stands(git: &Git, merge: &Merge) -> Result<Option<Moved>, GitError> {
    let now = tip(git, &merge.into)?.unwrap_or_default();
    if now == merge.from {
        return Ok(None);
    }
    Ok(Some(match is_ancestor(git, &merge.commit, &now)? {
        true => Moved::Done,
        false => Moved::Elsewhere(format!("{} is at {} now", merge.into, short(&now))),
    }))
}

/// Returns the working tree that has a branch checked out.
fn checked_out(trees: &[WorktreeEntry], branch: &str) -> Option<PathBuf> {
    let name = format!("refs/heads/{branch}");
    trees.iter().find(|it| it.branch.as_ref() == Some(&name)).map(|it| it.path.clone())
}

/// Returns the working tree in which somebody rebases a branch. It has no branch checked out until the end, and
/// then git moves the branch only if it is where it was.
fn rebased_in(git: &Git, trees: &[WorktreeEntry], branch: &str) -> Option<PathBuf> {
    let name = format!("refs/heads/{branch}");
    for entry in trees.iter().filter(|it| it.branch.is_none()) {
        // A folder that somebody removed is still listed.
        let Ok(there) = git.reopen_other(&entry.path) else { continue };
        let says = |file: &str| {
            let text = loop_base::files::text(&there.git_dir().join(file)).unwrap_or_default();
            text.lines().any(|it| it == name)
        };
        if ["rebase-merge/head-name", "rebase-merge/update-refs", "rebase-apply/head-name"]
            .into_iter()
            .any(says)
        {
            return Some(entry.path.clone());
        }
    }
    None
}
