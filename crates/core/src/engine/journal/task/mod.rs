//! What a run was opened with, and what it works through.

pub(in crate::engine) mod item;
pub(in crate::engine) mod opening;
pub(in crate::engine) mod requirement;
pub(in crate::engine) mod told_work;
