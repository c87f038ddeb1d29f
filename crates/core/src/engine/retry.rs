//! Failures of a stage that is tried again (`[retries]`): how often, after what pause, and when a
//! person has to look. A different error begins a different episode; the total and the alternation
//! of two errors bound what that allows.

use super::event::Failure;
use crate::workflow::model::{Millis, Retries};
use loop_base::text::counted;
use serde::{Deserialize, Serialize};

/// What has failed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Retries used in this episode.
    pub count: u32,
    /// How often in a row the same error came.
    pub same: u32,
    /// Failures of the whole run.
    pub total: u32,
    /// Signatures of the last failures, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
    /// The class of the last failure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// What the skill that looked at the failure said it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// What a failure leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Again,
    After(Millis),
    Block(String),
}

/// A-B-A-B: the fix of one failure brings back the other.
const ALTERNATION: usize = 4;

impl Retry {
    pub(super) fn note(&mut self, rules: Option<&Retries>, failure: Option<&Failure>) {
        let signature = failure.map(|it| it.signature.clone()).unwrap_or_default();
        let class = failure.map(|it| it.class.clone()).unwrap_or_default();
        let same = self.signatures.last() == Some(&signature);
        self.same = if same { self.same + 1 } else { 1 };
        // Providers phrase outages differently every time, so outages are compared by class, not by text.
        let waits = rules.is_some_and(|it| it.backoff.contains_key(&class));
        let differs = if waits { self.class != class } else { !same };
        if differs && rules.is_some_and(|it| it.reset_on_different || it.backoff.contains_key(&self.class)) {
            self.count = 0;
        }
        self.class = class;
        self.total += 1;
        self.signatures.push(signature);
        if ALTERNATION < self.signatures.len() {
            self.signatures.remove(0);
        }
    }

    pub(super) fn succeed(&mut self) {
        *self = Retry { total: self.total, ..Retry::default() };
    }

    /// A person looked at it: the episode is over, and a total that was reached begins again.
    pub(super) fn resume(&mut self, rules: Option<&Retries>) {
        let reached = rules.is_some_and(|it| it.total <= self.total);
        *self = Retry { total: if reached { 0 } else { self.total }, ..Retry::default() };
    }

    /// Returns what the failure that was just noted leads to.
    pub(super) fn next(&self, rules: &Retries, failure: Option<&Failure>) -> Next {
        let class = failure.map_or("other", |it| it.class.as_str());
        let text = failure.and_then(|it| it.text.lines().next()).unwrap_or("");
        if rules.never.iter().any(|it| it == class) {
            return Next::Block(format!("a failure of class {class} is never retried: {text}"));
        }
        if rules.total <= self.total {
            return Next::Block(format!("{} in all", counted(self.total, "failure")));
        }
        if let Some(backoff) = rules.backoff.get(class) {
            if backoff.tries <= self.count {
                return Next::Block(format!(
                    "{class} failure, tried again {}: {text}",
                    counted(self.count, "time")
                ));
            }
            let wait = backoff.first.saturating_mul(1 << self.count.min(30));
            return Next::After(wait.min(backoff.most));
        }
        if rules.same_error <= self.same {
            return Next::Block(format!("the same failure {}: {text}", counted(self.same, "time")));
        }
        if matches!(self.signatures.as_slice(), [a, b, c, d] if a == c && b == d && a != b) {
            return Next::Block("two failures alternate, each fix brings back the other".to_owned());
        }
        if rules.at_most <= self.count {
            return Next::Block(format!("{} of {} retries used: {text}", self.count, rules.at_most));
        }
        Next::Again
    }
}
