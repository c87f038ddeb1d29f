//! The real world: everything that starts, watches and ends processes, and everything that looks
//! at the working tree. Only this part of the program starts processes.
//!
//! An agent call is held by a shim, a second process of this program that outlives its controller;
//! `keeper` is the controller's end of it, and `found` is what the next controller makes of a call
//! that was open.

pub(crate) mod private;

mod stat;

mod identity;

mod order;

mod scratch;

mod cgroup;

mod belongings;

mod asking;

mod reserve;

mod tail;

mod claim;

mod ledger;

mod contain;

mod hunt;

mod capture;

mod deadline;

mod ladder;

mod interrupt;

mod request;

pub(crate) mod program;

mod call;

pub(crate) mod shim;

mod keeper;

mod finish;

mod measure;

mod found;

mod exchange;

pub(crate) mod errand;

mod dot;

pub(crate) mod git;

pub(crate) mod worktree;

mod pinned;

mod admission;

mod status;

mod still;

mod books;

pub(crate) mod tree;

pub(crate) mod snapshot;

mod change;

#[cfg(test)]
mod sample;

pub(crate) mod counts;

pub(crate) mod detect;

mod signals;

pub(crate) mod ears;

mod log;

mod room;

mod disk;

pub(crate) mod thin;

mod checks;

#[allow(dead_code, unused_imports, reason = "the engine takes no proofs yet")]
pub(crate) mod proof;

pub(crate) mod facts;

pub(crate) mod items;

pub(crate) mod which;

pub(crate) mod probe;

pub(crate) mod glance;

pub(crate) mod detached;

pub(crate) mod watch;

mod rollout;

mod said;

pub(crate) mod working;

pub(crate) mod delivery;

pub(crate) mod world;
