//! What comes of merging proven work with a branch that others work on, too: the merge is made without touching any
//! working tree, and its tree is checked before anybody relies on it.

use super::land;
use super::train::advance::{self, Moved};
use super::train::merge::{is_ancestor, tree_of};
use crate::measure::checks::run_checks::{Cut, Execute};
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use crate::tree::worktree::commit_of;
use loop_core::engine::{Landing, Merge};
use loop_store::Home;
use loop_store::mirror::domain_memory;
use loop_store::run::Run;

/// Merges the proven commit of a run with the tip of its target and checks the merged tree. Returns that tree, or why
/// the work is kept back.
pub(crate) fn prove_merge(
    run: &Run,
    git: &Git,
    tip: &str,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<Result<String, Landing>, Cut>> {
    let subject = land::subject(run);
    let merge = match land::work(run, &subject) {
        Ok(work) => work.merge_with(git, tip)?,
        Err(landing) => Err(landing),
    };
    let merge = match merge {
        Ok(merge) => merge,
        Err(landing) => return Ok(Ok(Err(landing))),
    };
    Ok(match prove_commit(run, git, &merge.commit, execute)? {
        Ok(None) => Ok(Ok(merge.tree)),
        Ok(Some(why)) => Ok(Err(Landing::Not { why, unreviewed: false })),
        Err(cut) => Err(cut),
    })
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
    if is_ancestor(git, commit, &from)? {
        return Ok(None);
    }
    if !is_ancestor(git, &from, commit)? {
        return Ok(Some(format!(
            "{target} has commits that its remote does not have; bring them together by hand"
        )));
    }
    let ours = Ours::read(&domain_memory::written_paths())?;
    let (into, commit) = (target.to_owned(), commit.to_owned());
    let merge = Merge { into, from, tree: tree_of(git, &commit)?, commit };
    Ok(match advance::advance(git, home, &ours, &merge)? {
        Moved::Done => None,
        Moved::Elsewhere(why) | Moved::InTheWay(why) => Some(why),
    })
}
