//! What went wrong in a run, kept short: the last errors for displays and prompts, and the failures
//! that were retried with what became of them. The journal has all of it; this is what the state
//! carries along.

use crate::engine::journal::measured::judgement::Failure;
use crate::engine::journal::task::opening::ToldFailure;
use crate::workflow::model::{ErrorClass, PhaseId};
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Errors kept; the toolkit that reads the mirror expects no more.
const ERRORS_KEPT: usize = 50;

/// Failures kept. The total that blocks a run is far below.
const FAILURES_KEPT: usize = 50;

/// One error of one iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorEntry {
    pub at: Timestamp,
    pub phase: PhaseId,
    pub iteration: u32,
    pub class: ErrorClass,
    /// The first 500 characters.
    pub text: String,
    /// The signature of the whole text.
    pub hash: String,
}

/// What is kept of what somebody says to have tried.
const TRIED_KEPT: usize = 500;

/// One failure that `[retries]` dealt with, or a gate that was not passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureEntry {
    pub at: Timestamp,
    pub phase: PhaseId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The gate at which changes were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    pub class: ErrorClass,
    pub text: String,
    /// What was done about it, in the words of whoever did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
    /// How many retries had been used when it happened.
    #[serde(default)]
    pub retries: u32,
    /// A person was asked to help.
    #[serde(default)]
    pub escalated: bool,
}

impl From<&ToldFailure> for FailureEntry {
    fn from(told: &ToldFailure) -> FailureEntry {
        let gate = told.phase.is_none().then(|| "gate".to_owned());
        FailureEntry {
            at: told.at,
            phase: told.phase.unwrap_or(0),
            item: told.item.clone(),
            class: if gate.is_some() { ErrorClass::GateRejection } else { ErrorClass::Other },
            gate,
            text: told.text.clone(),
            tried: None,
            resolution: told.resolution.clone(),
            resolved_at: told.resolved_at,
            retries: 0,
            escalated: false,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Troubles {
    pub errors: Vec<ErrorEntry>,
    pub failures: Vec<FailureEntry>,
}

impl Troubles {
    pub(crate) fn note_error(&mut self, at: Timestamp, phase: PhaseId, iteration: u32, error: &Failure) {
        keep(
            &mut self.errors,
            ERRORS_KEPT,
            ErrorEntry {
                at,
                phase,
                iteration,
                class: error.class.clone(),
                text: error.text.clone(),
                hash: error.signature.clone(),
            },
        );
    }

    pub(crate) fn note_failure(&mut self, failure: FailureEntry) {
        keep(&mut self.failures, FAILURES_KEPT, failure);
    }

    /// Says what was done about the last failure of a phase.
    pub(crate) fn note_try(&mut self, phase: PhaseId, tried: Option<&str>) {
        if let Some(failure) = self.failures.iter_mut().rev().find(|it| it.phase == phase) {
            failure.tried = tried.map(|it| it.chars().take(TRIED_KEPT).collect());
        }
    }

    /// Says that the run waits for a person because of the last failure of a phase, if it is open.
    pub(crate) fn escalate(&mut self, phase: PhaseId) {
        let last = self.failures.last_mut().filter(|it| it.phase == phase && it.resolution.is_none());
        last.into_iter().for_each(|it| it.escalated = true);
    }

    /// Says what became of the failures of a phase that are still open.
    pub(crate) fn resolve(&mut self, at: Timestamp, phase: PhaseId, resolution: &str) {
        let open = |it: &&mut FailureEntry| it.phase == phase && it.resolution.is_none();
        for failure in self.failures.iter_mut().filter(open) {
            failure.resolution = Some(resolution.to_owned());
            failure.resolved_at = Some(at);
        }
    }
}

fn keep<T>(list: &mut Vec<T>, most: usize, entry: T) {
    list.push(entry);
    if most < list.len() {
        list.remove(0);
    }
}
