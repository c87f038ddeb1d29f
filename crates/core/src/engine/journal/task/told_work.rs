//! What another controller logged of the work that it did on a system: which skills it called, and what was reached.
//! Nothing decides by it. The state file that is written here begins with it.

use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldWork {
    /// In the order of the calls.
    pub skills: Vec<ToldSkill>,
    /// How often each skill was completed.
    pub used: BTreeMap<String, u32>,
    /// When skills were completed, for those who measure speed.
    pub timed: Vec<ToldUse>,
    pub checkpoints: Vec<ToldCheckpoint>,
}

/// One call of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldSkill {
    pub skill: String,
    pub reason: String,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<(Timestamp, ToldEnd)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Skills that it called itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ToldSkill>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToldEnd {
    Complete,
    Failed,
    Skipped,
}

impl ToldEnd {
    pub const ALL: [ToldEnd; 3] = [ToldEnd::Complete, ToldEnd::Failed, ToldEnd::Skipped];

    pub fn word(self) -> &'static str {
        match self {
            ToldEnd::Complete => "complete",
            ToldEnd::Failed => "failed",
            ToldEnd::Skipped => "skipped",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldUse {
    pub skill: String,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldCheckpoint {
    pub kind: ToldCheckpointKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToldCheckpointKind {
    Commit,
    Milestone,
    Approval,
    Note,
}

impl ToldCheckpointKind {
    pub const ALL: [ToldCheckpointKind; 4] = [
        ToldCheckpointKind::Commit,
        ToldCheckpointKind::Milestone,
        ToldCheckpointKind::Approval,
        ToldCheckpointKind::Note,
    ];

    pub fn word(self) -> &'static str {
        match self {
            ToldCheckpointKind::Commit => "commit",
            ToldCheckpointKind::Milestone => "milestone",
            ToldCheckpointKind::Approval => "approval",
            ToldCheckpointKind::Note => "note",
        }
    }
}
