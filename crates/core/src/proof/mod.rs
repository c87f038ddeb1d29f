//! The pure part of a proof: what a test id is, which files the baseline protects, what each clean
//! tree consists of, and what the results of the clean runs add up to. Nothing here reads a file,
//! a clock or a process; the executor does that and passes in what it found.
//!
//! The order of use: [`Rules`] say which paths are protected, [`plan_overlay`] says how step E or F
//! differs from a plain checkout, [`canaries`] adds the tests that must fail, [`read_results`] turns
//! the output of a check into test ids, and [`conclude`] turns the steps into a [`Proof`].

mod added_modules;
mod canary;
mod conclude;
mod defence;
mod environment;
mod finding;
mod hunks;
mod ids;
mod locate;
mod overlay;
mod parts;
mod protected;
mod ratchet;
mod readers;
mod record;
mod rust_lexer;
mod rust_tests;
mod sentence;
mod steps;
#[cfg(test)]
mod testing;
mod trees;

pub use canary::{Canary, CanaryPlan, canaries, canaries_reported, canary_seen, without_canary};
pub use conclude::{Evidence, conclude};
pub use defence::Defence;
pub use environment::{IdFile, id_environment, id_files};
pub use finding::{Finding, FindingKind, Waiver};
pub use ids::{Exit, IdHash, Listing, Outcome, Results, TestId};
pub use locate::ProtectedChange;
pub use overlay::{Action, NotJudged, OverlayPlan, plan_overlay, retry_without};
pub use protected::{Class, Mixed, Rules};
pub use ratchet::{Ratchet, ratchet};
pub use readers::read_results;
pub use record::{CheckRecord, CheckState, Level, NewTest, Proof, ProvenTest, Unreproducible, WaivedFinding};
pub(crate) use sentence::closing_sentence;
pub use steps::{CanaryOutcome, NotRun, Step, StepOutcome, StepRun, needs_repeat, nothing_ran};
pub use trees::{Change, Contents, Direction, Side};
