//! The executor of a proof: everything about it that touches git, files and processes. A step is run
//! in a clean checkout of an exact tree, below the home, under the conditions that held when the run
//! was opened; what comes out is data. Which files are protected, what an overlay consists of, what a
//! test id is and what the results add up to is decided elsewhere, by the pure part.
//!
//! The door is [`OpeningConditions::take`] when a run is opened, and [`Prover`] for the steps.

use loop_core::proof as pure;

mod files;

mod folders;

mod borrow;

mod environment;

mod opening;

mod history;

mod checkout;

mod objects;

mod cache;

mod request;

mod session;

mod overlay;

mod tool_homes;
mod tools;

mod touched;

mod site;

mod canary;
mod flaky;
mod planned_canaries;
mod steps;

mod prover;

mod evidence;

#[cfg(debug_assertions)]
pub(crate) mod dev;

pub(crate) use self::{
    checkout::keep,
    folders::{Keep, occupant, prune},
    opening::OpeningConditions,
    prover::Pending,
    request::{ProofCheck, ProofError, ProofRequest, StepResult},
    steps::Prover,
};
pub(crate) use prover::{WORD as PROVE_WORD, serve};
