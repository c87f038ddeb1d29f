//! What is installed on this machine, what is allowed there, and what providers said no to.

mod agent_test;
pub(in crate::cli) mod agents;
pub(in crate::cli) mod doctor;
mod findings;
pub(in crate::cli) mod limits;
