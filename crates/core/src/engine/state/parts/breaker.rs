//! Stops a phase that keeps spending without getting anywhere. Closed until it has seen two
//! iterations without progress, then half open (a warning), open at the phase's thresholds; only a
//! person, or one fresh call with a summary of what was tried, closes an open one.

use crate::engine::journal::measured::judgement::{Failure, Judgement};
use crate::workflow::model::BreakerLimits as Thresholds;
use loop_base::text::counted;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What a breaker has counted in this visit to a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breaker {
    pub no_progress: u32,
    pub same_error: u32,
    pub failures: u32,
    /// Signatures of the last errors, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The one fresh call has been made.
    #[serde(default)]
    pub pivoted: bool,
    /// … and judged.
    #[serde(default)]
    pub pivot_spent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BreakerState {
    Closed,
    HalfOpen,
    Open,
}

/// A-B-A-B: the fix of one error brings back the other.
const ALTERNATION: usize = 4;

/// Iterations without progress after which people are warned.
const WARN_AT: u32 = 2;

impl Breaker {
    /// Takes an iteration into account that did not leave its phase.
    pub(crate) fn feed(&mut self, judgement: &Judgement) {
        self.pivot_spent = self.pivoted;
        self.no_progress = if judgement.progress { 0 } else { self.no_progress + 1 };
        self.failures = if judgement.failed { self.failures + 1 } else { 0 };
        match &judgement.error {
            Some(error) => self.note_error(error),
            None => {
                self.same_error = 0;
                self.errors.clear();
            }
        }
    }

    fn note_error(&mut self, error: &Failure) {
        let same = self.errors.last() == Some(&error.signature);
        self.same_error = if same { self.same_error + 1 } else { 1 };
        self.errors.push(error.signature.clone());
        if ALTERNATION < self.errors.len() {
            self.errors.remove(0);
        }
    }

    /// Returns why the breaker is open, or `None` when it is not. The thresholds are looked at
    /// before the warning, so a threshold of two opens without being half open first.
    pub fn open(&self, limits: &Thresholds) -> Option<String> {
        let counted = self.counted(limits)?;
        Some(limits.reason.clone().unwrap_or(counted))
    }

    fn counted(&self, limits: &Thresholds) -> Option<String> {
        let reached = |count: u32, limit: Option<u32>| limit.is_some_and(|limit| limit <= count);
        if reached(self.same_error, limits.same_error) {
            return Some(format!("the same error {} in a row", counted(self.same_error, "time")));
        }
        if reached(self.failures, limits.failures) {
            let times = match self.failures {
                1 => "an iteration".to_owned(),
                more => format!("{more} iterations in a row"),
            };
            return Some(format!("{times} without a confirmed result"));
        }
        if reached(self.no_progress, limits.no_progress) {
            return Some(format!("no progress in {}", counted(self.no_progress, "iteration")));
        }
        if limits.same_error.is_some() && self.alternates() {
            return Some("two errors alternate, each fix causes the other again".to_owned());
        }
        None
    }

    /// Returns what displays call its state.
    pub fn state(&self, limits: &Thresholds) -> BreakerState {
        if self.open(limits).is_some() {
            return BreakerState::Open;
        }
        match self.no_progress {
            0..WARN_AT => BreakerState::Closed,
            _ => BreakerState::HalfOpen,
        }
    }

    fn alternates(&self) -> bool {
        matches!(self.errors.as_slice(), [a, b, c, d] if a == c && b == d && a != b)
    }
}
