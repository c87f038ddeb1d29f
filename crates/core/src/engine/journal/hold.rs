//! What keeps a run from going on, and how a run ends.

use loop_base::time::Timestamp;
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
    /// As many calls of the account are under way as may be at once.
    Slot,
}

impl Wait {
    /// Returns a sentence about a wait. Nobody knows when another run's call ends.
    pub(crate) fn words(self, until: Timestamp, why: &str) -> String {
        match self {
            Wait::Provider | Wait::Window | Wait::Backoff => format!("waiting until {until}: {why}"),
            Wait::Slot => format!("waiting for another run's call to end: {why}"),
        }
    }

    /// Whether somebody knows when it ends.
    pub fn has_end(self) -> bool {
        self != Wait::Slot
    }
}
