//! What was found about a merged tree, and the branch here that follows one which has the merge already.

use super::train::advance::{self, Moved};
use super::train::merge::{short, tree_of};
use super::train::revert;
use crate::tree::changes::is_ancestor;
use crate::tree::commit_name::commit_of;
use crate::tree::git::Git;
use crate::tree::path_patterns::Ours;
use loop_core::engine::{Landing, Merge};
use loop_store::Home;
use loop_store::mirror::domain_memory;
use loop_store::run::Run;

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

/// Proves a merge, wherever it stands.
pub(crate) type MergeJudge<'a> = dyn FnMut(&Merge) -> anyhow::Result<Judged> + 'a;

/// Problems of a merged tree that are told; the log has the others.
const TOLD: usize = 20;

/// Work that is part of its target already, by whoever it was merged.
pub(crate) struct Arrival<'a> {
    pub(crate) into: &'a str,
    pub(crate) commit: &'a str,
    /// The target as it is now.
    pub(crate) tip: &'a str,
    /// Who merged it, where that is known, and in which request.
    pub(crate) by: String,
    /// The tree that was proven before, if it was our merge.
    pub(crate) proven: Option<&'a str>,
}

/// Says how work stands that is part of its target already. What came of it is proven unless it is the tree that was
/// proven before; a red one that somebody has repaired since then holds. Nothing where a person wants something first.
pub(crate) fn arrived(
    run: &Run,
    git: &Git,
    arrival: &Arrival<'_>,
    judge: &mut MergeJudge<'_>,
) -> anyhow::Result<Option<Landing>> {
    let Arrival { into, commit, tip, by, proven } = arrival;
    let input = &run.state.opening.input;
    let not = |why: String| Ok(Some(Landing::Not { why, unreviewed: false }));
    if let Some(undone) = revert::taken_out(git, commit, tip)? {
        let (was, by) = (short(commit), short(&undone));
        return not(format!(
            "it was merged as {was}, and {by} reverted it; build it again with loop run {input} --fresh"
        ));
    }
    let merged = Landing::Merged { into: (*into).to_owned(), commit: (*commit).to_owned() };
    let from = commit_of(git, &format!("{commit}^1"))?.unwrap_or_default();
    let merge =
        Merge { into: (*into).to_owned(), from, commit: (*commit).to_owned(), tree: tree_of(git, commit)? };
    if *proven == Some(merge.tree.as_str()) {
        return Ok(Some(merged));
    }
    let why = match judge(&merge)? {
        Judged::Holds(_) => return Ok(Some(merged)),
        Judged::Cut => return Ok(None),
        Judged::Unknown(why) => {
            return not(format!("{by} as {}, and the merged tree could not be proven: {why}", short(commit)));
        }
        Judged::Red(why) => why,
    };
    if tip != commit {
        let repaired = Merge { commit: (*tip).to_owned(), tree: tree_of(git, tip)?, ..merge };
        match judge(&repaired)? {
            Judged::Holds(_) => return Ok(Some(merged)),
            Judged::Cut => return Ok(None),
            Judged::Red(_) | Judged::Unknown(_) => (),
        }
    }
    let why = format!(
        "{by} as {}, and that fails: {}; repair {into}, then loop answer resume, or undo it with loop queue revert {input}",
        short(commit),
        told(why).join("; ")
    );
    Ok(Some(Landing::Red { into: (*into).to_owned(), commit: (*commit).to_owned(), why }))
}

/// A merge that is red goes back to those who did the work.
pub(crate) fn sent_back(run: &Run, merge: &Merge, problems: Vec<String>) -> Landing {
    let place = run.state.opening.worktree.as_ref().map(|it| it.place.clone()).unwrap_or_default();
    let (into, from) = (&merge.into, short(&merge.from));
    let mut why = told(problems);
    why.push(format!(
        "the branch passes by itself and fails together with what is in {into} now ({from}): in {place}, git merge \
         {from}, repair it and commit"
    ));
    Landing::Collides { why }
}

fn told(problems: Vec<String>) -> Vec<String> {
    let more = problems.len().saturating_sub(TOLD);
    let mut told: Vec<String> = problems.into_iter().take(TOLD).collect();
    told.extend((0 < more).then(|| format!("and {more} more")));
    told
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
        return Ok(Some(format!("{target} has commits that its remote does not have; merge them by hand")));
    }
    let ours = Ours::read(&domain_memory::written_paths())?;
    let (into, commit) = (target.to_owned(), commit.to_owned());
    let merge = Merge { into, from, tree: tree_of(git, &commit)?, commit };
    Ok(match advance::advance(git, home, &ours, &merge)? {
        Moved::Done => None,
        Moved::Elsewhere(why) | Moved::InTheWay(why) => Some(why),
    })
}
