//! What people say to a run that exists: answers, stop, pause, cancel, hand it in, take it out again. It is written down
//! for whoever drives the run; driving it is done in `driving`.

pub(super) mod answer;
pub(super) mod command;
pub(super) mod revert;
pub(super) mod ship;
pub(super) mod sign_gate;
