//! What calls have cost so far, of a run or of one of its phases, and what the next one may cost.

use crate::engine::journal::calls::ending::Ended;
use crate::engine::journal::calls::usage::{CostSource, TokenClasses};
use crate::workflow::model::Millis;
use loop_base::text::counted;
use serde::{Deserialize, Serialize};

/// How many calls the next one is judged by. More would hold on to the dear calls of an earlier phase.
const RECENT: usize = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub tokens: TokenClasses,
    /// The dollars of all calls whose cost is known.
    pub usd: f64,
    /// What counts against caps for calls whose cost is not known.
    pub assumed_usd: f64,
    /// Calls whose cost was reported.
    pub reported_calls: u32,
    /// Calls whose cost was computed from prices.
    pub computed_calls: u32,
    /// Calls that may have cost something, and nobody knows what.
    pub unknown_calls: u32,
    /// Those of them for which nothing could be assumed either.
    pub unpriced_calls: u32,
    pub ms: Millis,
}

impl Spent {
    /// Adds a call that ended. Where its cost is not known, `expected` counts against caps.
    pub(crate) fn add(&mut self, ended: &Ended, expected: Option<f64>) {
        let unknown_before = self.unknown_calls;
        self.count(ended);
        if unknown_before < self.unknown_calls {
            match expected {
                Some(usd) => self.assumed_usd += usd,
                None => self.unpriced_calls += 1,
            }
        }
    }

    /// Adds what is known about a call that ended.
    pub fn count(&mut self, ended: &Ended) {
        self.tokens.add(ended.usage.tokens);
        self.ms = self.ms.saturating_add(ended.ms);
        match (ended.usage.cost.source(), ended.usage.cost.amount()) {
            (CostSource::Reported, Some(usd)) => {
                self.usd += usd;
                self.reported_calls += 1;
            }
            (CostSource::Computed, Some(usd)) => {
                self.usd += usd;
                self.computed_calls += 1;
            }
            (CostSource::Reported | CostSource::Computed | CostSource::Unknown, _) => {
                self.unknown_calls += u32::from(ended.is_charged());
            }
        }
    }

    /// Returns the weakest source of what is in the sum.
    pub fn source(&self) -> CostSource {
        match (self.unknown_calls, self.computed_calls, self.reported_calls) {
            (0, 0, 0) => CostSource::Unknown,
            (0, 0, _) => CostSource::Reported,
            (0, ..) => CostSource::Computed,
            _ => CostSource::Unknown,
        }
    }

    /// Returns the dollars that are known; nothing where no call has a known cost.
    pub fn amount(&self) -> Option<f64> {
        (0 < self.reported_calls + self.computed_calls).then_some(self.usd)
    }

    /// Returns the cost in words: an amount, what it leaves out, or that it is not known.
    pub fn words(&self) -> Option<String> {
        cost_words(self.amount(), 0 < self.computed_calls, self.unknown_calls)
    }

    /// Returns the cost in words where the agent reports what it uses. An agent that reports nothing, such
    /// as a script, has no cost worth a place on every screen; `status` says that it is unknown.
    pub fn words_if_reported(&self) -> Option<String> {
        self.words().filter(|_| self.amount().is_some() || 0 < self.tokens.total())
    }
}

/// Returns a cost in words: an amount, what it leaves out, or that it is not known; nothing where there
/// was no call.
pub fn cost_words(amount: Option<f64>, computed: bool, unknown_calls: u32) -> Option<String> {
    let computed = if computed { " (computed)" } else { "" };
    match (amount, unknown_calls) {
        (None, 0) => None,
        (None, _) => Some("cost unknown".to_owned()),
        (Some(usd), 0) => Some(format!("{}{computed}", dollars(usd))),
        (Some(usd), calls) => {
            Some(format!("{}{computed} and {} of unknown cost", dollars(usd), counted(calls, "call")))
        }
    }
}

/// The known costs of the run's last calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecentCosts(Vec<f64>);

impl RecentCosts {
    pub(crate) fn add(&mut self, ended: &Ended) {
        // A call that was refused or never ran says nothing about the next one.
        let Some(usd) = ended.usage.cost.amount().filter(|_| ended.is_charged()) else { return };
        self.0.push(usd);
        if RECENT < self.0.len() {
            self.0.remove(0);
        }
    }

    /// Returns the dearest of them.
    pub(crate) fn dearest(&self) -> Option<f64> {
        self.0.iter().copied().reduce(f64::max)
    }

    /// Returns what one of them cost on average.
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }
}

/// Writes an amount of money. A small one keeps the digits that tell it from nothing.
pub fn dollars(usd: f64) -> String {
    if 0.0 < usd && usd < 0.0001 {
        return "less than $0.0001".to_owned();
    }
    if 0.0 < usd && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

#[cfg(test)]
mod tests {
    use super::{RecentCosts, Spent, dollars};
    use crate::engine::journal::calls::ending::{Ended, Ending};
    use crate::engine::journal::calls::usage::{Cost, CostSource, TokenClasses, Usage};
    use crate::report::Report;

    fn call(ending: Ending, cost: Cost) -> Ended {
        let usage = Usage { tokens: TokenClasses::default(), cost };
        Ended { usage, ..Ended::plain(1, ending, Report::default()) }
    }

    #[test]
    fn an_amount_is_never_told_as_nothing() {
        assert_eq!([0.0, 1e-7, 0.0021, 1.5].map(dollars), ["$0.00", "less than $0.0001", "$0.0021", "$1.50"]);
    }

    #[test]
    fn a_sum_is_as_weak_as_its_weakest_call() {
        let mut spent = Spent::default();
        assert_eq!((spent.source(), spent.words()), (CostSource::Unknown, None));
        spent.add(&call(Ending::Done, Cost::Reported(1.0)), None);
        assert_eq!((spent.source(), spent.words().as_deref()), (CostSource::Reported, Some("$1.00")));
        spent.add(&call(Ending::Done, Cost::Computed(0.5)), None);
        assert_eq!(
            (spent.source(), spent.words().as_deref()),
            (CostSource::Computed, Some("$1.50 (computed)"))
        );
        spent.add(&call(Ending::Done, Cost::Unknown), Some(1.0));
        assert_eq!(spent.words().as_deref(), Some("$1.50 (computed) and 1 call of unknown cost"));
        assert_eq!((spent.source(), spent.assumed_usd), (CostSource::Unknown, 1.0));
    }

    #[test]
    fn a_refusal_costs_nothing_and_unknown_is_never_zero() {
        let mut spent = Spent::default();
        let refused = Ending::Refused { why: "no key".to_owned() };
        spent.add(&call(refused, Cost::Unknown), None);
        assert_eq!(spent.words(), None);
        spent.add(&call(Ending::Done, Cost::Reported(-3.0)), None);
        assert_eq!((spent.words().as_deref(), spent.unpriced_calls), (Some("cost unknown"), 1));
    }

    #[test]
    fn the_last_five_calls_are_looked_at() {
        let mut recent = RecentCosts::default();
        for usd in [9.0, 1.0, 2.0, 3.0, 2.0, 1.0] {
            recent.add(&call(Ending::Done, Cost::Reported(usd)));
        }
        assert_eq!((recent.dearest(), recent.mean()), (Some(3.0), Some(1.8)));
    }

    #[test]
    fn small_amounts_are_no_zero() {
        assert_eq!([dollars(0.0), dollars(0.0042), dollars(1.239)], ["$0.00", "$0.0042", "$1.24"]);
    }
}
