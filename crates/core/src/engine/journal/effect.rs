//! What the engine wants of the world: wishes as verbs. An effect is written to the journal before it is performed, so this only ever grows.

use super::closing::landing::Merge;
use super::people::question::Question;
use super::task::item::Item;
use crate::proof::ProofStep;
use crate::workflow::model::PhaseId;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What only the world can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Make the branch and the worktree.
    Workspace,
    /// Run every check once, before the first call.
    Baseline,
    /// Read the list of items.
    List,
    /// Send an agent out for one iteration.
    Work(Call),
    /// Wait for a call that is under way, or find out what became of it.
    Collect(Call),
    /// End what a call left running.
    Contain,
    /// Run these checks, look at the tree and for these files.
    Measure { checks: Vec<String>, deliverables: Vec<String> },
    /// Take one step of the proof of the tree as it was judged last.
    Prove(ProofStep),
    /// Conclude from the steps what is proven.
    Conclude,
    /// Do nothing until this moment, or until a command comes.
    Sleep { until: Timestamp, why: String },
    /// Tell a person that there is a question.
    Ask(Question),
    /// Tell a person that the run stops, or waits for a provider.
    Tell,
    /// Look whether an approval holds: for what is there now, in time, signed where that is asked for.
    Confirm,
    /// Merge the proven work with where it is to go, or ask those who merge it.
    Land,
    /// Find out whether the merged tree holds.
    ProveMerge,
    /// Move the target to the merge.
    Move(Merge),
    /// Ask the outside how the work that was handed over stands.
    Look,
    /// What the workflow does at the end.
    Finish,
}

impl Effect {
    /// Whether it must never happen twice, so that its intent is written down first.
    pub fn happens_once(&self) -> bool {
        match self {
            Effect::Work(_)
            | Effect::Ask(_)
            | Effect::Tell
            | Effect::Workspace
            | Effect::Land
            | Effect::Move(_)
            | Effect::Finish => true,
            Effect::Baseline
            | Effect::List
            | Effect::Collect(_)
            | Effect::Contain
            | Effect::Measure { .. }
            | Effect::Prove(_)
            | Effect::Conclude
            | Effect::Confirm
            | Effect::ProveMerge
            | Effect::Look
            | Effect::Sleep { .. } => false,
        }
    }
}

/// The epoch of calls that another controller made; ours begin with 1.
pub const IMPORTED_EPOCH: u64 = 0;

/// One agent call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// 1-based in the run.
    pub number: u32,
    /// 1 for the first try to start it; a try that was never started leaves its number to the next.
    pub attempt: u32,
    pub phase: PhaseId,
    /// 1-based in the visit to the phase.
    pub iteration: u32,
    pub step: Step,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<Item>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that this call is to differ from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_model: Option<OtherModel>,
    /// The epoch of the controller that meant to start it; names the shim.
    pub epoch: u64,
    /// The digest of a text that is deleted right before the call starts: whoever finds the text knows that
    /// it did not. Calls that another program makes have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<String>,
}

/// Another phase and the model that answered there; nothing where that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherModel {
    pub phase: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Call {
    /// Returns what its files are called.
    pub fn stem(&self) -> String {
        match self.attempt {
            1 => format!("call-{}", self.number),
            attempt => format!("call-{}.{attempt}", self.number),
        }
    }
}

/// Which of a phase's calls this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The phase's own prompt.
    Main,
    Skill(String),
    /// The skill that diagnoses a failure before the next try.
    Fix(String),
}
