//! What a proof stands on, and what is left of it where a build has a defence switched off.

use crate::proof::conclude::locate::ProtectedChange;
use crate::proof::defence::Defence;
use crate::proof::overlay::plan::NotJudged;
use crate::proof::record::finding::Waiver;
use crate::proof::record::steps::{CanaryOutcome, NotRun, StepOutcome};
use crate::proof::results::ids::Results;
use std::collections::BTreeMap;

/// Everything that a proof stands on.
#[derive(Clone, Debug)]
pub struct ProofEvidence {
    pub tree: String,
    pub commit: Option<String>,
    /// The checks in place at the opening: a test that was red there and in every clean checkout was not
    /// made green by the tree.
    pub opening: Vec<Results>,
    /// The final tree's checks in place, which tell a test that fails only in the clean checkout.
    pub in_place: Vec<Results>,
    pub baseline: StepOutcome,
    pub clean: StepOutcome,
    /// `NotNeeded` if the overlay is the final tree itself.
    pub overlay: StepOutcome,
    /// `NotNeeded` if no test text changed.
    pub old_code: StepOutcome,
    /// The final code with the tests as a phase left them that had to write failing ones; `NotNeeded`
    /// if there is no such phase or it left the same tests.
    pub protected_line: StepOutcome,
    /// The other tests beside the canaries, where that was a run of its own; they are those of the clean
    /// checkout.
    pub canary_run: StepOutcome,
    /// The canary of each check.
    pub canary: BTreeMap<String, CanaryOutcome>,
    /// Files that no try of the overlay could judge.
    pub not_judged: Vec<NotJudged>,
    pub changed_protected: Vec<ProtectedChange>,
    /// Folders of dependencies that are not what they were at the opening and were not used, in words.
    pub changed_folders: Vec<String>,
    /// Programs in PATH that are not as they were at the opening and that the final tree's checks went
    /// without, each with what became of it.
    pub left_out_programs: Vec<String>,
    /// Files of toolchains and interpreters that were changed since the opening and take part in every
    /// check.
    pub changed_tools: Vec<String>,
    pub waivers: Vec<Waiver>,
    /// The globs of `--allow-test-change`.
    pub allowed: Vec<String>,
    /// Tree and baseline are the same.
    pub nothing_changed: bool,
    /// A person approved this tree, though nothing measures the task.
    pub approved: bool,
    pub cost_s: f64,
}

/// Leaves out the steps of defences that this build does not have.
pub(super) fn defended(mut evidence: ProofEvidence) -> ProofEvidence {
    if !Defence::Overlay.is_on() {
        evidence.overlay = StepOutcome::NotRun(NotRun::NotNeeded);
        evidence.not_judged.clear();
    }
    if !Defence::Canary.is_on() {
        evidence.canary.clear();
        evidence.canary_run = StepOutcome::NotRun(NotRun::NotNeeded);
    }
    if let (false, StepOutcome::Ran(run)) = (Defence::Clean.is_on(), &mut evidence.clean) {
        run.attempts = vec![evidence.in_place.clone()];
        run.touched.clear();
        // The tests beside the canaries ran in a clean checkout, too.
        evidence.canary_run = StepOutcome::NotRun(NotRun::NotNeeded);
    }
    evidence
}

/// The baseline with the attempts that later steps took of it.
pub(super) fn with_more_attempts(evidence: &ProofEvidence) -> StepOutcome {
    let mut baseline = evidence.baseline.clone();
    for step in [&evidence.clean, &evidence.overlay] {
        if let (StepOutcome::Ran(baseline), StepOutcome::Ran(run)) = (&mut baseline, step) {
            baseline.attempts.extend(run.baseline_again.iter().cloned());
        }
    }
    baseline
}
