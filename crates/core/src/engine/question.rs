//! Questions: whatever waits for a person.

use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// 1-based in the run.
    pub id: u32,
    pub kind: QuestionKind,
    pub text: String,
    /// What it lists to choose from, in place of the words of its kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// When it decides itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    Breaker,
    Rejected,
    Hourly,
    Gate(String),
    Blocked,
    /// What an agent cannot do itself, by its kind.
    Checkpoint(String),
    /// The command of this check, without which nothing proves the work.
    Check(String),
}

impl QuestionKind {
    pub fn word(&self) -> &'static str {
        match self {
            QuestionKind::Breaker => "breaker",
            QuestionKind::Rejected => "rejected",
            QuestionKind::Hourly => "hourly",
            QuestionKind::Gate(_) => "gate",
            QuestionKind::Blocked => "blocked",
            QuestionKind::Checkpoint(_) => "checkpoint",
            QuestionKind::Check(_) => "check",
        }
    }
}
