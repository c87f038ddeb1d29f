//! Questions: whatever waits for a person.

use super::approval::Subject;
use crate::open_words::open_words;
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
    /// What exactly a gate asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<Subject>>,
    /// When it decides itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl Question {
    /// Returns when somebody has to look at it again: it decides itself, or can no longer be approved.
    pub fn ends_at(&self) -> Option<Timestamp> {
        let expires = self.about.as_ref().and_then(|it| it.expires);
        self.deadline.into_iter().chain(expires).min()
    }
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
    Checkpoint(CheckpointKind),
    /// The command of this check, without which nothing proves the work.
    Check(String),
    /// The proof has findings.
    Proof,
    /// Less is proven than the workflow asks for.
    Unproven,
    /// The command that prepares a clean checkout.
    Prepare,
    /// The agent cannot work, and another try alone would not mend it.
    Agent,
    /// What this skill needs before it can be called.
    Prerequisite(String),
    /// Something of somebody's is in the way of the merge.
    Landing,
}

open_words! {
    /// Why an agent stopped for a person, in its own word.
    pub enum CheckpointKind {
        /// Somebody has to look at what was built.
        HumanVerify = "human-verify",
        /// Somebody has to choose.
        Decision = "decision",
        /// The pull request has to be merged.
        Merge = "merge",
        ;
        /// Whatever else only a person can do.
        Other
    }
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
            QuestionKind::Proof => "proof",
            QuestionKind::Unproven => "unproven",
            QuestionKind::Prepare => "prepare",
            QuestionKind::Agent => "agent",
            QuestionKind::Prerequisite(_) => "prerequisite",
            QuestionKind::Landing => "landing",
        }
    }
}
