//! Starts, watches and ends processes; this crate knows nothing of loops. It is the only one that
//! starts a process.
//!
//! An agent call is held by a shim, a second process of the program that outlives its controller.
//! `keeper` is the controller's end of it, and `previous_call` is what the next controller makes of a
//! call that was open.

mod call;
mod capture;
pub mod cgroup;
pub mod claim;
pub mod contain;
mod deadlines;
pub mod detached;
pub mod disk_space;
pub mod exchange;
pub mod exit_records;
pub mod find_by_mark;
pub mod follow;
pub mod foreground;
mod git_maintenance;
pub mod git_variables;
pub mod hardening;
pub mod identity;
pub mod keeper;
mod kill_ladder;
pub mod mount;
mod own_children;
pub mod previous_call;
pub mod proc_stat;
pub mod process_line;
pub mod program_version;
pub mod protocol;
mod rlimits;
pub mod shim;
mod shim_input;
pub mod shim_resources;
mod shim_signals;
pub mod signals;
pub mod spawn;
pub mod tail;
pub mod temp_dir;
mod waits_for_input;
pub mod which;
