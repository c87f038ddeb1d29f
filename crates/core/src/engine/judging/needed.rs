//! Where a condition can be met in several ways: what each of them would need, and what is so now. Where
//! there is only one way, `reasons` says what is wrong instead.

use super::grounds::{Grounds, once, plain};
use crate::facts::{FactName, FactWords};
use crate::workflow::condition::{Missing, MissingBound, Must};
use loop_base::value::Value;

impl Grounds<'_> {
    /// Returns what would be enough: `at least 5 iterations of this phase (now 1), or …`.
    pub(super) fn one_of(&self, alternatives: &[Vec<Missing<'_>>], or: &str) -> String {
        let ways =
            alternatives.iter().map(|it| once(it.iter().map(|it| self.needed_words(it))).join(" and "));
        once(ways).join(or)
    }

    /// One of several ways to meet a condition: what would have to be so, and what is.
    fn needed_words(&self, missing: &Missing<'_>) -> String {
        match missing {
            Missing::Never => "what can never be".to_owned(),
            Missing::OneOf(alternatives) => self.one_of(alternatives, " or "),
            Missing::Is { name, wanted } => self.needed_state(name, *wanted),
            Missing::Compares { name, must, bound } => self.needed_value(name, *must, bound),
        }
    }

    fn needed_state(&self, name: &str, wanted: bool) -> String {
        if let Some(check) = self.check_of(name, &["ok"]) {
            return format!("{check} to pass");
        }
        match FactName::named(name).map(|it| it.row().words) {
            Some(FactWords::State { is, is_not }) => {
                format!("that {}", if wanted { is } else { is_not })
            }
            Some(FactWords::Count { .. } | FactWords::Text { .. }) | None => {
                let now = self
                    .value(name)
                    .map_or_else(|| "not reported".to_owned(), |it| format!("now {}", plain(it)));
                format!("{name}: {wanted} ({now})")
            }
        }
    }

    fn needed_value(&self, name: &str, must: Must, bound: &MissingBound<'_>) -> String {
        let label = self.label(name);
        let limit = match bound {
            MissingBound::Value(value) => plain(value),
            MissingBound::Name(other) => {
                let label = self.label(other);
                self.value(other).map_or_else(|| format!("as many as {label}"), plain)
            }
        };
        let is_text = matches!(bound, MissingBound::Value(Value::Text(_)));
        let now = match self.value(name) {
            None => "not known".to_owned(),
            Some(Value::Text(text)) if !is_text => format!("now {text:?}, a text and no number"),
            Some(value) => format!("now {}", plain(value)),
        };
        match must {
            Must::Equal if is_text => format!("the {label} {limit} ({now})"),
            Must::Differ if is_text => format!("another {label} than {limit} ({now})"),
            Must::Equal if limit == "0" => format!("no {label} ({now})"),
            Must::Equal => format!("{limit} {label} ({now})"),
            Must::Differ => format!("another number of {label} than {limit} ({now})"),
            Must::BeLess => format!("fewer than {limit} {label} ({now})"),
            Must::BeAtMost => format!("at most {limit} {label} ({now})"),
            Must::BeMore => format!("more than {limit} {label} ({now})"),
            Must::BeAtLeast => format!("at least {limit} {label} ({now})"),
        }
    }
}
