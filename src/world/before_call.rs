//! What the working tree was right before a call: its tree and its commit, kept in the run's folder, so
//! that the controller which collects the call knows them also when another one started it. What a call
//! that was lost left behind is put back by it.

use crate::tree::changes::changes;
use crate::tree::git::GitError;
use crate::tree::git_text::{is_object_id, single_line};
use crate::tree::snapshot;
use crate::tree::tree_status::shown;
use crate::world::real::Host;
use loop_base::text::counted;
use loop_core::engine::Call;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FILE: &str = "before-call.json";

/// Two object ids and the name of a call.
const FILE_MOST: usize = 1 << 10;

/// Paths that a message names.
const NAMED: usize = 5;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BeforeCall {
    /// What the files of the call are called.
    stem: String,
    pub(crate) tree: String,
    /// Empty on a branch without commits.
    pub(crate) commit: String,
}

/// Writes down what a call begins with.
pub(crate) fn note(folder: &Path, call: &Call, tree: &str, commit: Option<&str>) -> std::io::Result<()> {
    let before = BeforeCall {
        stem: call.stem(),
        tree: tree.to_owned(),
        commit: commit.unwrap_or_default().to_owned(),
    };
    loop_base::files::replace_ours(&folder.join(FILE), &serde_json::to_string(&before)?)
}

/// Returns what this call began with, as far as it was written down.
pub(crate) fn of(folder: &Path, call: &Call) -> Option<BeforeCall> {
    let text = loop_base::files::read(&folder.join(FILE), FILE_MOST).ok()?;
    let before: BeforeCall = serde_json::from_slice(&text).ok()?;
    let sound = is_object_id(&before.tree) && (before.commit.is_empty() || is_object_id(&before.commit));
    (sound && before.stem == call.stem()).then_some(before)
}

impl Host<'_> {
    /// Puts what a lost call left uncommitted back to the last commit, after keeping it in a snapshot, and
    /// says so. What was uncommitted before the call is put back to what it was then.
    pub(crate) fn undo_lost(&mut self, call: &Call) -> Result<Option<String>, GitError> {
        let Some(before) = of(&self.folder, call) else { return Ok(None) };
        self.clear_stale_locks();
        let status = self.tree.status()?;
        let pinned = &self.tree.pinned;
        let tree_of = |commit: &str| -> Result<String, GitError> {
            let output = match commit {
                "" => pinned.repository.run(["hash-object", "-t", "tree", "/dev/null"])?,
                commit => pinned.repository.run(["rev-parse", &format!("{commit}^{{tree}}")])?,
            };
            Ok(single_line(&output))
        };
        let head = tree_of(status.commit.as_deref().unwrap_or_default())?;
        let paths = |from: &str, to: &str| -> Result<BTreeSet<PathBuf>, GitError> {
            let found = changes(pinned, from, to)?;
            Ok(found.into_iter().filter(|it| !it.submodule).map(|it| it.path).collect())
        };
        let by_call = paths(&before.tree, &status.tree)?;
        let uncommitted = paths(&head, &status.tree)?;
        let undone: Vec<PathBuf> = by_call.intersection(&uncommitted).cloned().collect();
        if undone.is_empty() {
            return Ok(None);
        }
        let kept = snapshot::take(pinned, &status, &self.run_id)?;
        let of_person = paths(&tree_of(&before.commit)?, &before.tree)?;
        let (person, rest): (Vec<PathBuf>, Vec<PathBuf>) =
            undone.iter().cloned().partition(|it| of_person.contains(it));
        snapshot::put_back(pinned, &head, &rest)?;
        snapshot::put_back(pinned, &before.tree, &person)?;
        self.forget_status();
        Ok(Some(format!(
            "{} put back to the last commit ({}); what it was is kept as {}",
            counted(undone.len(), "file"),
            shown(undone.iter(), NAMED),
            kept.name
        )))
    }
}
