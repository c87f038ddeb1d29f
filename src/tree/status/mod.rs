//! What the working tree holds: which files differ from the commit, which are untracked, which are
//! ignored and still count. `working_tree.rs` is what the other rooms ask; the rest are its parts. States
//! that are kept belong to `snapshots/`.

mod filtered;
pub(crate) mod git_status;
mod included_files;
pub(crate) mod path_patterns;
mod stat_fingerprint;
mod status_cache;
mod submodules;
pub(crate) mod tree_status;
mod view_index;
pub(crate) mod working_tree;
