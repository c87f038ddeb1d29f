//! The three kinds of decision: a fact to record, an effect to perform, or a rest.

use super::effect::Effect;
use super::event::Event;
use super::hold::{Hold, Outcome};
use super::people::question::Question;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A conclusion that follows from what is already known.
    Record(Event),
    /// Something that only the world can do.
    Perform(Effect),
    /// Nothing to do until a person or another moment comes along.
    Rest(Rest),
}

/// Why there is nothing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Rest {
    Held(Hold),
    Waiting(Question),
    Closed(Outcome),
    /// Somebody else has the work: a hook's own agent, another host.
    Elsewhere,
}
