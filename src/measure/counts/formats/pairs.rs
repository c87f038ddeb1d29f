//! Reads `name=value` pairs, the format of a check that is its own script: every word of the form
//! `name=number` or `name=true` on any line is a metric, the last value of a name counts. From
//! `tests_total`, `tests_passing`, `tests_failing` and `tests_skipped` come the counts; what is
//! left out follows from the others, and tests that no number accounts for count as skipped.

use crate::measure::counts::tally::{LogFinding, LogTally};
use loop_base::value::Value;
use std::collections::BTreeMap;

/// More different names are not kept: a script reports a handful.
pub(in crate::measure::counts) const METRICS_LIMIT: usize = 200;

/// A longer name is not a metric but some other text with an equals sign.
const METRIC_NAME_LIMIT: usize = 64;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Pairs {
    metrics: BTreeMap<String, Value>,
    lines: Option<(u64, u64)>,
}

impl Pairs {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        for (name, value) in text.split([' ', '\t', ',', ';']).filter_map(pair) {
            if name.starts_with("tests_") {
                self.lines = Some((self.lines.map_or(at, |(first, _)| first), at));
            }
            if self.metrics.len() < METRICS_LIMIT || self.metrics.contains_key(name) {
                self.metrics.insert(name.to_owned(), value);
            }
        }
    }

    /// Returns the counts, if there are any, and the metrics.
    pub(in crate::measure::counts) fn finish(self) -> (Option<LogFinding>, BTreeMap<String, Value>) {
        let finding = self.tally().zip(self.lines).map(|(tally, (first, last))| {
            let mut bounded = LogTally::default();
            bounded.add(&tally);
            LogFinding { tally: bounded, first, last, sure: true }
        });
        (finding, self.metrics)
    }

    fn tally(&self) -> Option<LogTally> {
        let read = |name: &str| match self.metrics.get(name) {
            Some(Value::Int(it)) => u32::try_from(*it).ok(),
            Some(Value::Bool(_) | Value::Number(_) | Value::Text(_)) | None => None,
        };
        let (total, passing, failing) = (read("tests_total"), read("tests_passing"), read("tests_failing"));
        let skipped = read("tests_skipped").unwrap_or(0);
        let rest = |total: u32, other: u32| total.saturating_sub(other).saturating_sub(skipped);
        let (passing, failing) = match (total, passing, failing) {
            (_, Some(passing), Some(failing)) => (passing, failing),
            (Some(total), Some(passing), None) => (passing, rest(total, passing)),
            (Some(total), None, Some(failing)) => (rest(total, failing), failing),
            (None, Some(passing), None) => (passing, 0),
            (None, None, Some(failing)) => (0, failing),
            (Some(0), None, None) => (0, 0),
            // A total alone does not say what became of the tests.
            (Some(_) | None, None, None) => return None,
        };
        let tally = LogTally { passing, failing, skipped, ..LogTally::default() };
        let unaccounted = total.unwrap_or(0).saturating_sub(tally.total());
        Some(LogTally { skipped: skipped.saturating_add(unaccounted), ..tally })
    }
}

fn pair(word: &str) -> Option<(&str, Value)> {
    let (name, value) = word.split_once('=')?;
    let begins = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let plain = name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if !begins || !plain || name.len() > METRIC_NAME_LIMIT {
        return None;
    }
    match Value::read(value) {
        value @ (Value::Bool(_) | Value::Int(_) | Value::Number(_)) => Some((name, value)),
        Value::Text(_) => None,
    }
}
