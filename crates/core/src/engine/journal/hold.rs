//! What keeps a run from going on, and how a run ends.

use serde::{Deserialize, Serialize};

/// A run that could continue but does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub kind: HoldKind,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldKind {
    Stopped,
    Paused,
    Capped,
    Halted,
}

/// How a run ended for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Completed,
    Cancelled,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The provider refuses calls.
    Provider,
    /// The window of calls is used up.
    Window,
    /// A failure is tried again after a pause.
    Backoff,
}
