//! The steps of a proof: overlay and canaries of a checkout, the session in which commands run, what is
//! repeated, and the [`prover::Prover`] that takes a step from nothing to its result. How a step gets a
//! process of its own is in `detached`; what the results add up to is decided in the core.

pub(super) mod baseline;
pub(super) mod canary;
pub(super) mod changed_files;
pub(super) mod flaky;
mod go_library;
pub(super) mod overlay;
pub(super) mod planned_canaries;
mod planted;
pub(super) mod prepared_checkout;
pub(super) mod program_canaries;
pub(super) mod prover;
pub(super) mod session;
mod submodule_trees;
mod unneeded;
