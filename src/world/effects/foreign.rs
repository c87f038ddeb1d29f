//! Whether somebody moved the branch that the work is for while an agent was working: an agent has the rights of
//! its user in the repository. A landing of a run of this home is known by its commit; whatever else moved
//! it may have been a person, or the agent.

use crate::deliver::land;
use crate::deliver::train::merge::{short, tip};
use crate::tree::changes::is_ancestor;
use crate::tree::commit_name::commit_of;
use crate::tree::git::{Git, GitError};
use crate::world::before_call;
use crate::world::real::Host;
use loop_base::text::sanitise;
use loop_core::engine::{Landing, Station, TargetMove};
use loop_store::run::Run;
use loop_store::{Filter, fold};
use std::collections::BTreeSet;
use std::path::Path;

/// Commits that the question shows.
const SHOWN: &str = "-10";

/// Where the branch is that the work of a run is for.
pub(super) fn target_now(run: &Run) -> Option<String> {
    let (plan, target) = land::target(run).ok()?;
    tip(&Git::reopen(Path::new(&plan.root)).ok()?, target).ok()?
}

impl Host<'_> {
    /// Says where the target was moved during the call that is measured, if no run of this home did it.
    pub(crate) fn foreign_move(&self, run: &Run) -> Option<TargetMove> {
        let Station::Reported(turn) = &run.state.station else { return None };
        let from = before_call::of(&self.folder, &turn.call)?.target?;
        let (plan, branch) = land::target(run).ok()?;
        let git = Git::reopen(Path::new(&plan.root)).ok()?;
        let to = tip(&git, branch).ok()?.unwrap_or_default();
        let is_known = from == to || self.is_landed(run, &git, &from, &to).unwrap_or_default();
        (!is_known).then(|| TargetMove { branch: branch.to_owned(), from, to })
    }

    /// Whether every commit on the way was made by a landing of this home.
    fn is_landed(&self, run: &Run, git: &Git, from: &str, to: &str) -> anyhow::Result<bool> {
        if !is_ancestor(git, from, to)? {
            return Ok(false);
        }
        let (ours, from_remotes) = self.landings(run)?;
        // What a remote had when a run landed there came with that landing.
        let known = from_remotes.iter().map(|it| format!("^{it}^1"));
        let known = known.filter(|it| commit_of(git, &it[1..]).is_ok_and(|it| it.is_some()));
        let asked = ["rev-list".to_owned(), "--first-parent".to_owned(), to.to_owned(), format!("^{from}")];
        let commits = git.run(asked.into_iter().chain(known).chain(["--".to_owned()]))?;
        Ok(String::from_utf8_lossy(&commits).lines().all(|it| ours.contains(it)))
    }

    /// The commits by which runs of this home landed, or are about to; and those of them that went to a remote.
    fn landings(&self, run: &Run) -> anyhow::Result<(BTreeSet<String>, BTreeSet<String>)> {
        let home = self.shim.listener.shared_home();
        let opened_at = run.state.opened_at.0;
        let project = home.run(&run.id)?.map(|it| it.project).unwrap_or_default();
        let (mut found, mut from_remotes) = (BTreeSet::new(), BTreeSet::new());
        for row in home.runs(&Filter { project: Some(&project), ..Filter::default() })? {
            if row.updated_at < opened_at {
                continue;
            }
            let workflow = fold::workflow(&home, &row.id)?;
            let state = fold::state(&home, &row.id, &workflow)?;
            let mut its: BTreeSet<String> = state.delivered.into_iter().collect();
            its.extend(state.train.and_then(|it| it.merge).map(|it| it.commit));
            if let Some(Landing::Merged { commit, .. } | Landing::Reverted { commit, .. }) = state.landing {
                its.insert(commit);
            }
            let beginning = &state.opening.beginning;
            if beginning.host.is_some() || beginning.remote.is_some() {
                from_remotes.extend(its.iter().cloned());
            }
            found.append(&mut its);
        }
        Ok((found, from_remotes))
    }
}

/// Says that the target was moved by somebody, unless a person has said that it was theirs.
pub(super) fn unanswered(run: &Run, git: &Git) -> Result<Option<Landing>, GitError> {
    let Some(moved) = &run.state.target_moved else { return Ok(None) };
    let now = tip(git, &moved.branch)?.unwrap_or_default();
    let is_there = is_ancestor(git, &moved.to, &now)?;
    if !is_there || run.state.target_trusted.as_ref() == Some(&moved.to) {
        return Ok(None);
    }
    let range = format!("{}..{}", moved.from, moved.to);
    let log = git.run(["log", "--format=%h %an: %s", "--first-parent", SHOWN, &range, "--"])?;
    let log = String::from_utf8_lossy(&log).into_owned();
    let lines: String = log.lines().map(|it| format!("\n  {}", sanitise(it))).collect();
    let why = format!(
        "{} moved from {} to {} while an agent was working, and no run of this home did it; if it was you or \
         somebody you know, retry{lines}",
        moved.branch,
        short(&moved.from),
        short(&moved.to)
    );
    Ok(Some(Landing::Foreign { why, to: moved.to.clone() }))
}
