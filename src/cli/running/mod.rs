//! Commands that open a run or continue with one, here or detached, and the demonstration of it. What is
//! drawn meanwhile is in `terminal`; the rules of opening are the desk's.

pub(super) mod checks;
pub(super) mod demo;
pub(super) mod demo_agent;
pub(super) mod detach;
mod drive;
pub(super) mod flags;
pub(super) mod init;
mod jobs;
pub(super) mod not_yet;
pub(super) mod queue;
pub(super) mod resume;
pub(super) mod run;
