//! What the working tree was right before a call: its tree and its commit, kept in the run's folder, so
//! that the controller which collects the call knows them also when another one started it.

use crate::tree::git_text::is_object_id;
use loop_core::engine::Call;
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "before-call.json";

/// Two object ids and the name of a call.
const FILE_MOST: usize = 1 << 10;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BeforeCall {
    /// What the files of the call are called.
    stem: String,
    pub(crate) tree: String,
    /// Empty on a branch without commits.
    pub(crate) commit: String,
    /// Where the branch that the work is for was.
    #[serde(default)]
    pub(crate) target: Option<String>,
}

/// Writes down what a call begins with.
pub(crate) fn note(
    folder: &Path,
    call: &Call,
    tree: &str,
    commit: Option<&str>,
    target: Option<String>,
) -> std::io::Result<()> {
    let before = BeforeCall {
        stem: call.stem(),
        tree: tree.to_owned(),
        commit: commit.unwrap_or_default().to_owned(),
        target,
    };
    loop_base::files::overwrite_ours(&folder.join(FILE), &serde_json::to_string(&before)?)
}

/// Returns what this call began with, as far as it was written down.
pub(crate) fn of(folder: &Path, call: &Call) -> Option<BeforeCall> {
    let text = loop_base::files::read(&folder.join(FILE), FILE_MOST).ok()?;
    let before: BeforeCall = serde_json::from_slice(&text).ok()?;
    let sound = is_object_id(&before.tree) && (before.commit.is_empty() || is_object_id(&before.commit));
    (sound && before.stem == call.stem()).then_some(before)
}
