//! The pure part of a proof: what a test id is, which files the baseline protects, what each clean
//! tree consists of, and what the results of the clean runs add up to. Nothing here reads a file,
//! a clock or a process; the executor does that and passes in what it found.
//!
//! The order of use: [`ProtectedFiles`] say which paths are protected, [`plan_overlay`] says how step E or F
//! differs from a plain checkout, [`canaries`] adds the tests that must fail, [`read_results`] turns
//! the output of a check into test ids, and [`conclude`] turns the steps into a [`Proof`].

mod canary;
mod conclude;
mod defence;
mod overlay;
mod protecting;
mod ratchet;
mod record;
mod results;
#[cfg(test)]
mod testing;
mod trees;

pub use canary::program_canary::{ProgramCanary, is_printed, program_canary};
pub use canary::shell_canary::{canary_command, only_compares, shell_canary};
pub use canary::test_canary::{Canary, CanaryPlan, canaries, canary_seen, reported_canaries, without_canary};
pub use conclude::locate::ProtectedChange;
pub use conclude::merged::red_on_merge;
pub use conclude::{ProofEvidence, conclude};
pub use defence::Defence;
pub use overlay::plan::{Action, NotJudged, OverlayPlan};
pub use overlay::planning::{plan_overlay, retry_without};
pub use protecting::class::{Class, Mixed};
pub use protecting::finding::hidden_files::hidden_by;
pub use protecting::finding::only_tests::may_be_of_tests;
pub use protecting::mixed::parts::brings_back;
pub use protecting::names::is_test_path;
pub use protecting::protected::{ProtectedFiles, says_what_is_protected};
pub use ratchet::{Ratchet, lost_since, ratchet};
pub use record::finding::{Finding, FindingKind, Waiver};
pub use record::proof_record::{
    CheckRecord, CheckState, Level, NewTest, Proof, ProvenTest, Unreproducible, WaivedFinding,
};
pub(crate) use record::sentence::closing_sentence;
pub use record::steps::{
    CanaryOutcome, NotRun, ProofStep, StepOutcome, StepRun, became_flaky, needs_repeat, nothing_ran,
};
pub use results::count_format::CountFormat;
pub use results::environment::{IdFile, id_environment, id_files};
pub use results::ids::{Exit, IdHash, NamedTests, Results, TestId, TestOutcome};
pub use results::readers::read_results;
pub use results::runner_lines;
pub use trees::{Contents, Direction, Side, TreeChange};
