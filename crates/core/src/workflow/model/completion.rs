//! The rows of the completion list: what a workflow wants to see of a phase before its work is merged.

use super::PhaseId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompletionRow {
    /// What the list calls it.
    pub name: String,
    /// The name of the phase that has to be passed, as the file writes it.
    pub stage: String,
    /// That phase; `None`: a file turned it off.
    pub phase: Option<PhaseId>,
    /// The skill of the phase without which the row does not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Which of the phase's results the list quotes.
    pub shows: ShownKind,
}

/// What a phase can be left with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownKind {
    Tests,
    Checks,
    Security,
    Performance,
    /// There is no target that the performance could meet.
    NoPerformanceTarget,
    Review,
}
