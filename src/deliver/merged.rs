//! What comes of merging proven work with a branch that others work on, too: the merge is made without touching any
//! working tree, and its tree is checked before anybody relies on it.

use super::land;
use crate::measure::checks::run_checks::{Cut, Execute};
use crate::tree::git::Git;
use crate::tree::git_text::single_line;
use crate::tree::worktree::commit_of;
use loop_core::engine::Landing;
use loop_store::Home;
use loop_store::run::Run;

/// Merges a commit with the tip of its target and proves the merged tree. Returns that tree, or why the work is kept
/// back.
pub(crate) fn prove_merge(
    run: &Run,
    git: &Git,
    tip: &str,
    head: &str,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<Result<String, Landing>, Cut>> {
    let merge = match land::merge(git, run, tip, head)? {
        Ok(commit) => commit,
        Err(landing) => return Ok(Ok(Err(landing))),
    };
    match prove_commit(run, git, &merge, execute)? {
        Ok(None) => {
            let tree = git.run(["rev-parse", &format!("{merge}^{{tree}}")])?;
            Ok(Ok(Ok(single_line(&tree))))
        }
        Ok(Some(why)) => Ok(Ok(Err(Landing::Not { why, unreviewed: false }))),
        Err(cut) => Ok(Err(cut)),
    }
}

/// Proves the tree of a commit that stands somewhere already. Says what is wrong with it.
pub(crate) fn prove_commit(
    run: &Run,
    git: &Git,
    commit: &str,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<Option<String>, Cut>> {
    land::check(run, git, commit, execute)
}

/// Brings the local branch to a commit that its remote has, where nothing is in the way. What is in the way is left
/// to the person whose branch it is.
pub(crate) fn follow_remote(
    git: &Git,
    home: &Home,
    target: &str,
    commit: &str,
) -> anyhow::Result<Option<String>> {
    let Some(from) = commit_of(git, &format!("refs/heads/{target}"))? else { return Ok(None) };
    if land::is_ancestor(git, commit, &from)? {
        return Ok(None);
    }
    if !land::is_ancestor(git, &from, commit)? {
        return Ok(Some(format!(
            "{target} has commits that its remote does not have; bring them together by hand"
        )));
    }
    land::advance(git, home, target, &from, commit)
}
