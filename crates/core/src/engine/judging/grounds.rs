//! What the words about an iteration are drawn from, and what each name in a condition is called.

use crate::engine::journal::measured::evidence::{CheckResult, Evidence};
use crate::engine::journal::measured::metric::Metrics;
use crate::engine::state::parts::station::Turn;
use crate::facts::{FactName, FactWords};
use crate::workflow::model::Phase;
use loop_base::value::Value;

/// What reasons are drawn from.
pub(crate) struct Grounds<'a> {
    pub phase: &'a Phase,
    pub turn: &'a Turn,
    pub evidence: &'a Evidence,
    pub metrics: &'a Metrics,
    /// What the checks said before the first call.
    pub before: &'a [CheckResult],
    /// The promise that was asked for, where there is one.
    pub promise: Option<&'a str>,
    /// The agent says that it is done.
    pub signal: bool,
}

impl Grounds<'_> {
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.metrics.get(name).map(|it| &it.value)
    }

    pub(super) fn label(&self, name: &str) -> String {
        if let Some((check, what)) = self.check_count(name) {
            return format!("{what} of the check {check}");
        }
        match FactName::named(name).map(|it| it.row().words) {
            Some(FactWords::Count { label, .. } | FactWords::Text { label, .. }) => label.to_owned(),
            Some(FactWords::State { is, .. }) => format!("whether {is}"),
            None => name.to_owned(),
        }
    }

    fn check_count<'n>(&self, name: &'n str) -> Option<(&'n str, &'static str)> {
        if FactName::named(name).is_some() {
            return None;
        }
        let kinds = [
            ("total", "tests"),
            ("passing", "passing tests"),
            ("failing", "failing tests"),
            ("skipped", "skipped tests"),
        ];
        kinds.into_iter().find_map(|(suffix, words)| Some((self.check_of(name, &[suffix])?, words)))
    }

    /// Returns the check whose value this name is.
    pub(super) fn check_of<'n>(&self, name: &'n str, suffixes: &[&str]) -> Option<&'n str> {
        let check = suffixes.iter().find_map(|it| name.strip_suffix(it)?.strip_suffix('_'))?;
        let is_check = self.phase.checks.iter().any(|it| it == check)
            || self.evidence.results.iter().any(|it| it.name == check);
        is_check.then_some(check)
    }
}

/// Returns each of these once, in the same order.
pub(super) fn once(reasons: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for reason in reasons {
        if !kept.contains(&reason) {
            kept.push(reason);
        }
    }
    kept
}

/// A value as people write it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bool(_) | Value::Int(_) | Value::Number(_) => value.to_string(),
    }
}
