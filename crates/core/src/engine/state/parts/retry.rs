//! Failures of a stage that is tried again (`[retries]`): how often, after what pause, and when a
//! person has to look. A different error begins a different episode; the total and the alternation
//! of two errors bound what that allows.

use crate::engine::journal::measured::judgement::Failure;
use crate::workflow::model::{ErrorClass, Millis, Retries, Workflow};
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ErrorClass>,
    /// What the skill that looked at the failure said it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// What a failure leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RetryNext {
    Again,
    After(Millis),
    Block(String),
}

/// A-B-A-B: the fix of one failure brings back the other.
const ALTERNATION: usize = 4;

impl Retry {
    pub(crate) fn note(&mut self, rules: Option<&Retries>, failure: Option<&Failure>) {
        let signature = failure.map(|it| it.signature.clone()).unwrap_or_default();
        let class = failure.map(|it| it.class.clone());
        let same = self.signatures.last() == Some(&signature);
        self.same = if same { self.same + 1 } else { 1 };
        // Providers phrase outages differently every time, so outages are compared by class, not by text.
        let waits_for = |rules: &Retries, class: &Option<ErrorClass>| {
            class.as_ref().is_some_and(|it| rules.backoff.contains_key(it))
        };
        let waits = rules.is_some_and(|it| waits_for(it, &class));
        let differs = if waits { self.class != class } else { !same };
        if differs && rules.is_some_and(|it| it.reset_on_different || waits_for(it, &self.class)) {
            self.count = 0;
        }
        self.class = class;
        self.total += 1;
        self.signatures.push(signature);
        if ALTERNATION < self.signatures.len() {
            self.signatures.remove(0);
        }
    }

    pub(crate) fn succeed(&mut self) {
        *self = Retry { total: self.total, ..Retry::default() };
    }

    /// A person looked at it: the episode is over, and a total that was reached begins again.
    pub(crate) fn resume(&mut self, rules: Option<&Retries>) {
        let reached = rules.is_some_and(|it| it.total <= self.total);
        *self = Retry { total: if reached { 0 } else { self.total }, ..Retry::default() };
    }

    /// Returns what the failure that was just noted leads to.
    pub(crate) fn next(&self, rules: &Retries, failure: Option<&Failure>) -> RetryNext {
        let class = failure.map_or(&ErrorClass::Other, |it| &it.class);
        let text = failure.and_then(|it| it.text.lines().next()).unwrap_or("");
        if rules.never.contains(class) {
            return RetryNext::Block(format!("{class} failures are never retried: {text}"));
        }
        if rules.total <= self.total {
            return RetryNext::Block(format!("{} in all", counted(self.total, "failure")));
        }
        if let Some(backoff) = rules.backoff.get(class) {
            if backoff.tries <= self.count {
                return RetryNext::Block(format!("tried again {}: {text}", counted(self.count, "time")));
            }
            let wait = backoff.first.saturating_mul(1 << self.count.min(30));
            return RetryNext::After(wait.min(backoff.most));
        }
        if rules.same_error <= self.same {
            return RetryNext::Block(format!("the same failure {}: {text}", counted(self.same, "time")));
        }
        if matches!(self.signatures.as_slice(), [a, b, c, d] if a == c && b == d && a != b) {
            return RetryNext::Block("two failures alternate, each fix causes the other again".to_owned());
        }
        if rules.at_most <= self.count {
            return RetryNext::Block(format!("{} of {} retries used: {text}", self.count, rules.at_most));
        }
        RetryNext::Again
    }
}

/// How long to wait before a provider that could not be reached is tried again: a cable that was
/// pulled is back in seconds, a service in minutes. So many tries take an hour, after which a person
/// should know.
const REACH_FIRST: Millis = 5_000;
const REACH_MOST: Millis = 300_000;
const REACH_TRIES: u32 = 16;

/// Returns the pause after so many tries that came to nothing, or nothing when it is a person's turn.
/// A workflow that says how long to wait for failures from outside is followed.
pub(crate) fn pause(workflow: &Workflow, tries: u32) -> Option<Millis> {
    let rules = workflow.retries.as_ref().and_then(|it| it.backoff.get(&ErrorClass::External));
    let (first, most, at_most) =
        rules.map_or((REACH_FIRST, REACH_MOST, REACH_TRIES), |it| (it.first, it.most, it.tries));
    (tries < at_most).then(|| first.saturating_mul(1 << tries.min(30)).min(most))
}
