//! What is known about phases: the visit that is under way, which is forgotten when another phase is
//! entered, and the log that stays, one entry for each phase of the workflow.

use crate::engine::journal::measured::metric::Metrics;
use crate::engine::state::parts::breaker::Breaker;
use crate::engine::state::parts::spent::Spent;
use crate::workflow::model::ShownKind;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is forgotten when a phase is entered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// Iterations judged in this visit.
    pub iteration: u32,
    pub breaker: Breaker,
    /// What the last iteration of this visit came to.
    pub metrics: Metrics,
    /// What progress is compared with: the values that were last known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub last: BTreeMap<String, Value>,
    pub skills_done: Vec<String>,
    /// What the reports of its skills claimed; the last one is judged with all of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, Value>,
    /// The skill that looks at a failure is due.
    pub fix_due: bool,
    /// A person let the phase go.
    #[serde(default)]
    pub skipped: bool,
    /// It was measured without a call, because no skill was left to call.
    #[serde(default)]
    pub looked: bool,
    /// Tests that turned green in this visit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned_green: Vec<String>,
    /// What its report leaves to a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub for_person: Vec<String>,
    /// The tree was changed while a gate waited, so it is measured again; the agent had asked to leave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recheck: bool,
}

/// What stays known about a phase. A later visit replaces the entry, and what it spent is carried over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseLog {
    pub status: PhaseStatus,
    pub iterations: u32,
    pub visits: u32,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// Why it was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_reason: Option<String>,
    /// It was left by a person's word and not by its exit rule.
    #[serde(default)]
    pub forced: bool,
    /// What the calls of all its visits cost.
    #[serde(default)]
    pub spent: Spent,
    /// What it was left with, in words that say where something is only claimed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shown: BTreeMap<ShownKind, String>,
}

impl PhaseLog {
    pub(crate) fn begin(&mut self, at: Timestamp) {
        *self = PhaseLog {
            status: PhaseStatus::Active,
            visits: self.visits + 1,
            started_at: Some(at),
            spent: self.spent,
            ..PhaseLog::default()
        };
    }

    /// A phase that a person let go stays so, whichever way leads on.
    pub(crate) fn end(&mut self, at: Timestamp, status: PhaseStatus, why: &str) {
        if self.status == PhaseStatus::Active {
            self.status = status;
            self.completed_at = Some(at);
            self.exit_reason = Some(why.to_owned());
            self.forced = matches!(status, PhaseStatus::Skipped | PhaseStatus::Forced);
        }
    }

    /// The work goes back to an earlier phase, so this one is to be done again.
    pub(crate) fn reopen(&mut self, why: &str) {
        self.status = PhaseStatus::Pending;
        self.completed_at = None;
        self.forced = false;
        self.exit_reason = Some(why.to_owned());
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseStatus {
    #[default]
    Pending,
    Active,
    Completed,
    /// Left by a person's word before any iteration was judged.
    Skipped,
    /// Left by a person's word after some work.
    Forced,
}
