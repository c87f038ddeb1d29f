//! What the next prompt says about the iteration before it.

use crate::engine::journal::calls::ending::Ending;
use crate::engine::journal::measured::evidence::{CheckOutcome, CheckResult, Evidence};
use crate::engine::journal::measured::judgement::{Judgement, Verdict};
use crate::engine::state::parts::station::Turn;
use crate::facts::FactName;
use crate::workflow::model::{PhaseId, Protocol};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    pub phase: PhaseId,
    pub iteration: u32,
    pub why: Vec<String>,
    pub notes: Vec<String>,
    /// How the call went wrong, if it did.
    pub trouble: Option<String>,
    pub failing: Vec<CheckResult>,
    pub summary: Option<String>,
    pub blockers: Vec<String>,
    pub verdict: Option<String>,
    /// The end of the last message, where it held no report or sent the work back.
    pub tail: String,
    /// There was a report, and what it says does not hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicted: bool,
    /// The phase sent the work back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
}

impl Feedback {
    /// Whether there is nothing in it that a call would have to know.
    pub(crate) fn is_empty(&self) -> bool {
        self.why.is_empty() && self.notes.is_empty() && self.failing.is_empty() && self.trouble.is_none()
    }

    /// What the one who looked at a failure said, beside the failure itself, which is to be checked again.
    pub(crate) fn after_repair(self, skill: &str, failed: Feedback) -> Feedback {
        let summary = self.summary.map(|it| format!("{skill} says: {it}"));
        Feedback { why: failed.why, failing: failed.failing, summary, ..self }
    }

    /// Something to know about an iteration that was otherwise well.
    pub(crate) fn note((phase, iteration): (PhaseId, u32), note: String) -> Feedback {
        Feedback { phase, iteration, notes: vec![note], ..Feedback::default() }
    }

    pub(crate) fn of(
        protocol: &Protocol,
        turn: &Turn,
        evidence: &Evidence,
        judgement: &Judgement,
    ) -> Feedback {
        let report = &turn.ended.report;
        let trouble = match &turn.ended.ending {
            Ending::Failed { why }
            | Ending::TimedOut { why }
            | Ending::CutOff { why }
            | Ending::Lost { why } => Some(why.clone()),
            Ending::WaitedForInput { why } => {
                Some(format!("{why}; nobody can answer, so use flags that ask nothing, such as --yes"))
            }
            Ending::Done
            | Ending::Interrupted
            | Ending::NotStarted
            | Ending::Barred { .. }
            | Ending::Limited { .. }
            | Ending::Refused { .. }
            | Ending::Unreachable { .. } => None,
        };
        // A promise that stands in the prompt would be taken for an echo of it.
        let contradicted = *protocol == Protocol::ExitSignal && report.signal.is_some() && judgement.failed;
        let failing = evidence.results.iter().filter(|it| matches!(it.outcome, CheckOutcome::Failed(_)));
        Feedback {
            phase: turn.call.phase,
            iteration: turn.call.iteration,
            why: match &judgement.verdict {
                Verdict::Leave | Verdict::Step => Vec::new(),
                Verdict::Again
                | Verdict::Fail
                | Verdict::Reject
                | Verdict::Stuck(_)
                | Verdict::Checkpoint(_) => judgement.why.clone(),
            },
            notes: judgement.notes.clone(),
            trouble,
            failing: failing.cloned().collect(),
            summary: report.summary.clone(),
            blockers: report.blockers.clone(),
            verdict: judgement.metrics.get(FactName::Verdict.name()).map(|it| it.value.to_string()),
            contradicted,
            rejected: judgement.verdict == Verdict::Reject,
            tail: if report.found && judgement.verdict != Verdict::Reject && !contradicted {
                String::new()
            } else {
                turn.ended.tail.clone()
            },
        }
    }
}
