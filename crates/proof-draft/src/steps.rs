//! The clean runs that a proof is made of. The executor fills a [`StepOutcome`] for each step, with
//! one attempt per repetition, because a red test is repeated on the same tree before it counts.

use crate::ids::{Exit, Listing, Outcome, Results, TestId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Red tests are repeated at most this often beyond the first attempt.
pub const REPEATS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A0: the baseline in a clean checkout.
    Baseline,
    /// D: the final tree in a clean checkout.
    Clean,
    /// E: the final tree with the baseline's protected files.
    Overlay,
    /// F: the baseline's code with the final tests.
    OldCode,
    /// G: the overlay with tests that must fail.
    Canary,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    Ran(StepRun),
    NotRun(NotRun),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotRun {
    /// Nothing in the change asks for this step: the overlay equals the final tree, or no test
    /// text changed.
    NotNeeded,
    /// `clean = "never"`, or the person skipped the preparation.
    Skipped,
    /// It could not be made or built, in words.
    Failed(String),
}

/// One step, with every attempt on the same tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRun {
    pub tree: String,
    /// Results of all checks in each attempt; a repetition may run some of the checks only.
    pub attempts: Vec<Vec<Results>>,
    pub seconds: f64,
    /// Protected or tracked files that changed while the step ran: such a run is void.
    pub touched: Vec<String>,
}

/// What became of the canary of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryOutcome {
    /// Seen failing on the baseline and on the overlay.
    Seen,
    /// Seen failing on the baseline, not on the overlay.
    Unseen,
    /// The baseline did not show it, so that its absence says nothing.
    NotOnBaseline,
    /// No test file of the baseline can carry one, or the overlay did not build.
    None,
}

impl Step {
    pub const ALL: [Step; 5] = [Step::Baseline, Step::Clean, Step::Overlay, Step::OldCode, Step::Canary];
}

impl StepRun {
    /// Returns the results of the first attempt of a check.
    pub fn check(&self, name: &str) -> Option<&Results> {
        self.attempts.first()?.iter().find(|it| it.check == name)
    }
}

/// Returns the checks that must run again on the same tree: those with a test or an exit code that
/// was red in every attempt so far, until [`REPEATS`] is reached. Ids that were red on the baseline
/// are not repeated in D and E, where they raise no alarm; in F a failure is the evidence and must
/// be seen twice.
pub fn needs_repeat(step: Step, run: &StepRun, baseline: Option<&StepRun>) -> Vec<String> {
    todo!()
}

/// Tells whether no check could do anything on this tree: then a preparation is missing.
pub fn nothing_ran(run: &StepRun) -> bool {
    todo!()
}
