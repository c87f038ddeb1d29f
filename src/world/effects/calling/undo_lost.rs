//! What becomes of the files of a call that nobody knows the end of, where the workflow wants them undone:
//! they are kept in a snapshot and put back.

use crate::tree::changes::changes;
use crate::tree::git::GitError;
use crate::tree::git_text::single_line;
use crate::tree::snapshot;
use crate::tree::tree_status::shown;
use crate::world::before_call;
use crate::world::real::Host;
use loop_base::text::counted;
use loop_core::engine::Call;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Paths that a message names.
const NAMED: usize = 5;

impl Host<'_> {
    /// Puts what a lost call left uncommitted back to the last commit, after keeping it in a snapshot, and
    /// says so. What was uncommitted before the call is put back to what it was then.
    pub(crate) fn undo_lost(&mut self, call: &Call) -> Result<Option<String>, GitError> {
        let Some(before) = before_call::of(&self.folder, call) else { return Ok(None) };
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
