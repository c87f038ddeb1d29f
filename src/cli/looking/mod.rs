//! Commands that look at runs: where one stands, what happened and why, as words, as JSON or as a
//! report; waiting for one and watching one that another process drives. Nothing here opens or drives
//! a run.

pub(super) mod attach;
pub(super) mod evidence;
pub(super) mod log;
mod readable_diff;
pub(super) mod runs;
pub(super) mod show;
pub(super) mod status;
pub(super) mod verify;
pub(super) mod views;
pub(super) mod wait;
pub(super) mod why;
