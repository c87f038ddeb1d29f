//! Taking a landed merge out of its target again, as `git revert -m 1` does, without touching any working
//! tree: what the merge brought is a change between it and its first parent, and the way back is merged
//! with the target as it is.

use super::merge::{commit, merged_tree, short, tree_of};

use crate::tree::changes::is_ancestor;
use crate::tree::commit_name::commit_of;
use crate::tree::git::{Git, GitError};
use crate::tree::git_text::single_line;
use loop_core::engine::Merge;

/// What there is to do about a landed merge.
pub(crate) enum Revert {
    Make(Merge),
    /// This commit has taken it out already.
    Done(String),
    /// It cannot be taken out, and why.
    Not(String),
    /// Later commits changed the same lines of these files.
    Conflicts(Vec<String>),
}

/// Prepares the commit that takes a merge out of its target.
pub(crate) fn prepare(git: &Git, run: &str, into: &str, from: &str, merge: &str) -> Result<Revert, GitError> {
    if !is_ancestor(git, merge, from)? {
        return Ok(Revert::Not(format!("{into} does not contain {} any more", short(merge))));
    }
    if let Some(found) = taken_out(git, merge, from)? {
        return Ok(Revert::Done(found));
    }
    let (first, second) = (commit_of(git, &format!("{merge}^1"))?, commit_of(git, &format!("{merge}^2"))?);
    let (Some(first), Some(_)) = (first, second) else {
        return Ok(Revert::Not(format!("{} is not a merge commit; revert it with git revert", short(merge))));
    };
    // The state before the merge, as a commit that follows it.
    let back = match commit(git, &tree_of(git, &first)?, &[merge], "before the merge\n")? {
        Ok(back) => back,
        Err(why) => return Ok(Revert::Not(why)),
    };
    let tree = match merged_tree(git, from, &back)? {
        Ok(tree) => tree,
        Err(files) => return Ok(Revert::Conflicts(files)),
    };
    let subject = single_line(&git.run(["log", "-1", "--format=%s", merge, "--"])?);
    let message = format!(
        "Revert \"{subject}\"\n\n{}, reversing\nchanges made to {first}.\n\nLoop-Run: {run}\n",
        words(merge)
    );
    Ok(match commit(git, &tree, &[from], &message)? {
        Ok(commit) => Revert::Make(Merge { into: into.to_owned(), from: from.to_owned(), commit, tree }),
        Err(why) => Revert::Not(why),
    })
}

/// Reverts of reverts that are followed; nobody goes back and forth so often.
const DEPTH_MOST: usize = 32;

/// The commit between a merge and the target's tip that takes the merge out, and that nobody has reverted since.
pub(crate) fn taken_out(git: &Git, merge: &str, from: &str) -> Result<Option<String>, GitError> {
    undone_by(git, merge, from, DEPTH_MOST)
}

fn undone_by(git: &Git, commit: &str, from: &str, depth: usize) -> Result<Option<String>, GitError> {
    let (range, grep) = (format!("{commit}..{from}"), format!("--grep={}", words(commit)));
    let found = git.run(["rev-list", "--first-parent", "--fixed-strings", &grep, &range, "--"])?;
    for line in String::from_utf8_lossy(&found).lines() {
        if depth == 0 || undone_by(git, line, from, depth - 1)?.is_none() {
            return Ok(Some(line.to_owned()));
        }
    }
    Ok(None)
}

fn words(merge: &str) -> String {
    format!("This reverts commit {merge}")
}
