//! How an agent call ended, and what it used up.

pub(in crate::engine) mod ending;
pub(in crate::engine) mod usage;
