//! What a call and the whole run changed, compared once and held uncut. Facts, deliverables and
//! report files are all answered from here, so they cannot disagree, and the number of changed files
//! decides nothing: whoever shows the list cuts it there.

use super::uncommitted;
use crate::tree::changes::{self, Change, ChangeKind};
use crate::tree::git::GitError;
use crate::tree::tree_status::TreeStatus;
use crate::tree::working_tree::WorkingTree;
use globset::{GlobBuilder, GlobMatcher};
use loop_core::engine::State;
use std::path::{Path, PathBuf};

/// Every path that differs, for the two spans that are asked about.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Since the run began.
    pub(crate) run: Vec<Change>,
    /// Since the call began.
    pub(crate) call: Vec<Change>,
    /// Uncommitted now, and not when the run began.
    pub(crate) uncommitted: Vec<PathBuf>,
}

impl Differences {
    /// Compares a status with the run's beginning and with the tree before the call; where that one
    /// is unknown, with what the last measurement saw.
    pub(crate) fn between(
        tree: &WorkingTree,
        status: &TreeStatus,
        state: &State,
        before_call: Option<&str>,
    ) -> Result<Differences, GitError> {
        let base = state.baseline.as_ref().map_or("", |it| it.facts.tree.as_str());
        let before_call = before_call.unwrap_or(&state.seen.tree);
        let run = since(tree, base, status)?;
        let call = if before_call == base { run.clone() } else { since(tree, before_call, status)? };
        let uncommitted = uncommitted::since_beginning(tree, status, state, &run)?;
        Ok(Differences { run, call, uncommitted })
    }

    /// Deliverables that do not exist, hold nothing, or were not touched in this run. A link is none: what it leads to
    /// may be anybody's.
    pub(crate) fn missing(&self, place: &Path, deliverables: &[String]) -> Vec<String> {
        let is_there = |pattern: &&String| {
            let Ok(glob) = globset::Glob::new(pattern) else { return false };
            let glob = glob.compile_matcher();
            let mut touched = present(&self.run).filter(|it| glob.is_match(&it.path));
            touched.any(|it| {
                let found = std::fs::symlink_metadata(place.join(&it.path));
                found.is_ok_and(|it| it.is_file() && 0 < it.len())
            })
        };
        deliverables.iter().filter(|it| !is_there(it)).cloned().collect()
    }
}

/// What changed from a tree to a status; nothing from a tree that is not known.
pub(crate) fn since(tree: &WorkingTree, from: &str, status: &TreeStatus) -> Result<Vec<Change>, GitError> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    changes::changes(&tree.pinned, from, &status.tree)
}

/// The changes that left something behind.
pub(crate) fn present(changes: &[Change]) -> impl Iterator<Item = &Change> {
    changes.iter().filter(|it| it.kind != ChangeKind::Deleted)
}

/// A pattern whose star does not cross a slash.
pub(crate) fn glob(pattern: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(pattern).literal_separator(true).build().ok().map(|it| it.compile_matcher())
}
