//! Compares the checks in place with those at the opening.

use crate::ids::Results;

/// What the comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ratchet {
    /// Lines for the agent that say why this is not done.
    pub not_done: Vec<String>,
    /// Lines that are only worth knowing: a test that is gone.
    pub notes: Vec<String>,
}

pub fn ratchet(opening: &[Results], now: &[Results]) -> Ratchet {
    todo!()
}
