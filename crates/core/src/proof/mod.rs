//! The pure part of a proof: what a test id is, which files the baseline protects, what each clean
//! tree consists of, and what the results of the clean runs add up to. Nothing here reads a file,
//! a clock or a process; the executor does that and passes in what it found.
//!
//! The order of use: [`ProtectedFiles`] say which paths are protected, [`plan_overlay`] says how step E or F
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
mod protecting;
mod ratchet;
mod readers;
mod record;
mod sentence;
mod shell_canary;
mod steps;
#[cfg(test)]
mod testing;
mod trees;

use protecting::{parts, protected, redirects, rust_lexer, rust_tests};

pub use canary::{Canary, CanaryPlan, canaries, canaries_reported, canary_seen, without_canary};
pub use conclude::{ProofEvidence, conclude};
pub use defence::Defence;
pub use environment::{IdFile, id_environment, id_files};
pub use finding::{Finding, FindingKind, Waiver};
pub use ids::{Exit, IdHash, NamedTests, Results, TestId, TestOutcome};
pub use locate::ProtectedChange;
pub use overlay::{Action, NotJudged, OverlayPlan, plan_overlay, retry_without};
pub use parts::brings_back;
pub use protected::{Class, Mixed, ProtectedFiles, says_what_is_protected};
pub use protecting::names::is_test_path;
pub use protecting::only_tests::may_be_of_tests;
pub use ratchet::{Ratchet, ratchet};
pub use readers::read_results;
pub use record::{CheckRecord, CheckState, Level, NewTest, Proof, ProvenTest, Unreproducible, WaivedFinding};
pub(crate) use sentence::closing_sentence;
pub use shell_canary::{canary_command, shell_canary};
pub use steps::{
    CanaryOutcome, NotRun, ProofStep, StepOutcome, StepRun, became_flaky, needs_repeat, nothing_ran,
};
pub use trees::{Contents, Direction, Side, TreeChange};
