//! The proof of one tree as far as it has been taken, step by step.

use crate::proof::{Proof, ProofStep};
use serde::{Deserialize, Serialize};

/// The proof of one tree, as far as it has been taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proving {
    pub tree: String,
    pub steps: Vec<StepTaken>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<Proof>>,
}

/// One step of a proof, as far as decisions depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTaken {
    pub step: ProofStep,
    /// The tree that is being proven.
    pub tree: String,
    pub seconds: f64,
    /// It had nothing to show and did not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_needed: bool,
    /// What it found, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub found: String,
    /// The digest of what it found, which lies beside the run: the ids of its tests may be ten thousand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Seconds that the steps after it are expected to take, where it is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_s: Option<f64>,
    /// Nothing could run in a clean checkout of the baseline: a command is missing that prepares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprepared: Option<Unprepared>,
}

/// Why a clean checkout cannot run the checks, and the command that would most likely help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unprepared {
    pub why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
}
