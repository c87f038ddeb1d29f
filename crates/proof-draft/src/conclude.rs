//! Turns the results of the steps into a proof.

use crate::finding::Waiver;
use crate::ids::Results;
use crate::overlay::NotJudged;
use crate::record::Proof;
use crate::steps::{CanaryOutcome, StepOutcome};
use std::collections::BTreeMap;

/// Everything that a proof stands on.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub tree: String,
    pub commit: Option<String>,
    /// The final tree's checks in place, which tell a test that fails only in the clean checkout.
    pub in_place: Vec<Results>,
    pub baseline: StepOutcome,
    pub clean: StepOutcome,
    pub overlay: StepOutcome,
    pub old_code: StepOutcome,
    /// The canary of each check.
    pub canary: BTreeMap<String, CanaryOutcome>,
    /// Files that no try of the overlay could judge.
    pub not_judged: Vec<NotJudged>,
    /// Protected files that changed, with their diff base→final known to the reader by path.
    pub changed_protected: Vec<String>,
    pub waivers: Vec<Waiver>,
    /// `--allow-test-change` globs.
    pub allowed: Vec<String>,
    /// Tree and baseline are the same.
    pub nothing_changed: bool,
    /// A person approved this tree, though nothing measures the task.
    pub approved: bool,
    pub cost_s: f64,
}

pub fn conclude(evidence: &Evidence) -> Proof {
    todo!()
}
