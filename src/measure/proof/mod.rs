//! The executor of a proof: everything about it that touches git, files and processes. A step is run
//! in a clean checkout of an exact tree, below the home, under the conditions that held when the run
//! was opened; what comes out is data. Which files are protected, what an overlay consists of, what a
//! test id is and what the results add up to is decided elsewhere, by the pure part.
//!
//! The door is [`OpeningConditions::take`] when a run is opened, and [`Prover`] for the steps.
//!
//! `storage/` is folders and copies on the disk, `checkout/` a clean checkout of one tree, `conditions/`
//! what held when the run was opened, `steps/` the steps themselves. Each uses those before it.

use loop_core::proof as pure;

mod checkout;
mod conditions;
mod detached;
mod evidence;
mod request;
mod steps;
mod storage;

#[cfg(debug_assertions)]
pub(crate) mod dev;

pub(crate) use checkout::clean_checkout::keep;
pub(crate) use conditions::opening::OpeningConditions;
pub(crate) use detached::{Pending, WORD as PROVE_WORD, serve};
pub(crate) use request::{ProofCheck, ProofError, ProofRequest, StepResult};
pub(crate) use steps::prover::Prover;
pub(crate) use storage::folders::{Keep, occupant, prune};
