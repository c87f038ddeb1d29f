//! The working tree: git, status, snapshots, worktrees. One function runs git; nothing destructive
//! happens without a snapshot first. What a change means to a run is not asked here.

pub(crate) mod changes;
pub(crate) mod git;
pub(crate) mod git_dir;
pub(crate) mod git_lock;
mod git_status;
pub(crate) mod git_text;
mod included_files;
pub(crate) mod journal_head;
pub(crate) mod path_patterns;
pub(crate) mod pinned;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod snapshot;
mod stat_fingerprint;
mod status_cache;
mod submodules;
pub(crate) mod tree_status;
pub(crate) mod tree_without;
mod view_index;
pub(crate) mod working_tree;
pub(crate) mod worktree;
