//! Working trees: odd places, worktrees, snapshots, and the state file that is written into them.

mod mirror;
mod places;
mod snapshots;
mod worktree;
