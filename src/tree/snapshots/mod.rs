//! States of the working tree that are kept: snapshots and what differs between two of them, trees
//! without some paths, and worktrees of their own. They are read through `status/`, never the other way
//! round.

pub(crate) mod changes;
pub(crate) mod snapshot;
pub(crate) mod tree_without;
pub(crate) mod worktree;
