//! Starts, watches and ends processes; this crate knows nothing of loops. It is the only one that
//! starts a process.
//!
//! An agent call is held by a shim, a second process of the program that outlives its controller. Each
//! room uses those before it: `process` and `records` know single processes and what is written down of
//! calls, `contain` keeps and ends what a call started, `short_commands` asks short questions of programs,
//! `shim` holds the call, and `controller` is the other end of it.

pub mod contain;
mod controller;
pub mod disk_space;
mod process;
mod records;
pub mod shim;
mod short_commands;

pub use contain::{cgroup, find_by_mark, identity, mount, temp_dir};
pub use controller::{detached, follow, keeper, previous_call, process_line};
pub use process::{deaths, hardening, proc_stat, run_mark::RUN_MARK, signals};
pub use records::{claim, exit_records, protocol, tail, unstarted};
pub use short_commands::{
    check_keeper, exchange, foreground, git_variables, interruption, pid_namespace, program_version,
    ssh_keygen, which,
};
