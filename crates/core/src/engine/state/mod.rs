//! Where a run is, as its journal implies it. `parts/` are the pieces that the state consists of,
//! `run_state.rs` is the state, `apply/` changes it event by event, `items.rs` and `requirements.rs` are the
//! two lists that it keeps, and `views/` reads it: its status, its history, the call that is due.
//!
//! Each uses those before it. Nothing here decides what a run does next (`deciding/`) or what an iteration
//! is worth (`judging/`), and nothing is written to the journal.

pub(super) mod apply;
pub(super) mod items;
pub(super) mod parts;
mod requirements;
pub(super) mod run_state;
pub(super) mod views;
