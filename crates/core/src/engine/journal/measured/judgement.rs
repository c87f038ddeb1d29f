//! What an iteration came to. It is written to the journal, so it only ever grows.

use super::metric::Metric;
use crate::engine::journal::people::question::CheckpointKind;
use crate::workflow::condition::Truth;
use crate::workflow::model::{ErrorClass, PhaseId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an iteration comes to, with everything that decided it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The phase that was judged; journals of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// The condition of the exit rule.
    pub exit: Truth,
    /// The agent says that it is done.
    pub signal: bool,
    /// Why the phase is passed or is not, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// A check that the phase cannot do without, and that has no command: a person is asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    pub progress: bool,
    /// The iteration brought no report, or a claim that did not hold.
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    pub metrics: BTreeMap<String, Metric>,
    /// What a checkpoint lists to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Full passes of the tests since the last failure.
    #[serde(default)]
    pub green_runs: u32,
    /// What was odd about the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The exit rule is met.
    Leave,
    /// The phase's next skill is due.
    Step,
    Again,
    /// A failure that `[retries]` deals with.
    Fail,
    Reject,
    /// The agent says that it cannot continue.
    Stuck(String),
    /// The agent stopped at a checkpoint of this kind.
    Checkpoint(CheckpointKind),
}

/// What went wrong in an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: ErrorClass,
    pub signature: String,
    /// The first 500 characters.
    pub text: String,
}
