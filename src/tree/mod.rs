//! The working tree: git, status, snapshots, worktrees. One function runs git; nothing destructive
//! happens without a snapshot first. What a change means to a run is not asked here.
//!
//! `repository/` talks to git, `status/` says what the tree holds, `snapshots/` keeps states of it and
//! compares them.

mod repository;
mod snapshots;
mod status;

#[cfg(test)]
pub(crate) mod sample;

pub(crate) use repository::{commit_name, git, git_dir, git_lock, git_text, journal_head, pinned, programs};
pub(crate) use snapshots::{changes, snapshot, tree_without, worktree};
pub(crate) use status::{git_status, path_patterns, tree_status, working_tree};
