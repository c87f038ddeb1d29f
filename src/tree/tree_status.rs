//! How a working tree stands: the one value that everything else is asked of.

use serde::{Deserialize, Serialize};

/// How a working tree stands.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct TreeStatus {
    /// The commit of HEAD; none on a branch without commits.
    pub(crate) commit: Option<String>,
    /// The branch, where HEAD is on one.
    pub(crate) branch: Option<String>,
    /// The git tree of everything tracked or untracked and not ignored, our own files aside.
    pub(crate) tree: String,
    /// Nothing is changed, staged or untracked, our own files aside.
    pub(crate) clean: bool,
    /// What makes it unclean: the first paths, for messages.
    pub(crate) dirty_paths: Vec<String>,
    /// How many such paths there are.
    pub(crate) dirty_count: usize,
    /// What is not part of `tree`, each with its reason.
    pub(crate) left_out: Vec<String>,
}

/// What the user's index stands on: while these are the same, so is what is staged.
pub(crate) type StagedKey = (Option<String>, Option<(u64, i64, i64, u64)>);
