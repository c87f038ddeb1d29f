//! One process as the kernel knows it: what `/proc` says of it, which children are ours, how those of a run are
//! marked, what it waits for, and what this process does to itself (its signals, its limits, its secrets). Ending processes
//! is not done here; that is `contain`.

pub mod deaths;
pub(crate) mod git_maintenance;
pub mod hardening;
pub(crate) mod own_children;
pub mod proc_stat;
pub(crate) mod rlimits;
pub(crate) mod run_mark;
pub mod signals;
pub(crate) mod waits_for_input;
