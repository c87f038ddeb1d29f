//! An agent call from its prompt to its end: documents, slots, caps, the call itself, undoing a lost one.

mod briefing;
mod call_ending;
pub(crate) mod calls;
pub(crate) mod caps;
pub(crate) mod slots;
mod undo_lost;
