//! What a call used up: tokens by class, and money with where the figure comes from. It is written to
//! the journal, so it only ever grows; journals from before the classes hold one number for each.

use serde::{Deserialize, Deserializer, Serialize};

/// What a call used up, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub tokens: TokenClasses,
    #[serde(rename = "usd")]
    pub cost: Cost,
}

impl Usage {
    /// The usage of a call that was never started.
    pub fn nothing() -> Usage {
        Usage { tokens: TokenClasses::default(), cost: Cost::Reported(0.0) }
    }
}

/// TokenClasses in the four classes that providers price apart. No token is in two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenClasses {
    /// Input that neither came from a cache nor was written to one.
    pub input: u64,
    pub cache_write: u64,
    pub cache_read: u64,
    /// What the model wrote, its reasoning included.
    pub output: u64,
}

impl TokenClasses {
    /// Returns the tokens of all classes. An agent may report anything, so sums stay at the largest number.
    pub fn total(&self) -> u64 {
        let input = self.input.saturating_add(self.cache_write).saturating_add(self.cache_read);
        input.saturating_add(self.output)
    }

    /// Adds another count class by class.
    pub fn add(&mut self, other: TokenClasses) {
        *self = self.plus(other);
    }

    #[must_use]
    pub fn plus(self, other: TokenClasses) -> TokenClasses {
        TokenClasses {
            input: self.input.saturating_add(other.input),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            output: self.output.saturating_add(other.output),
        }
    }
}

impl<'de> Deserialize<'de> for TokenClasses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TokenClasses, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum StoredTokens {
            Classes {
                input: u64,
                cache_write: u64,
                cache_read: u64,
                output: u64,
            },
            /// One number for input and output, as it was stored before the classes.
            Sum(u64),
        }
        Ok(match StoredTokens::deserialize(deserializer)? {
            StoredTokens::Classes { input, cache_write, cache_read, output } => {
                TokenClasses { input, cache_write, cache_read, output }
            }
            StoredTokens::Sum(input) => TokenClasses { input, ..TokenClasses::default() },
        })
    }
}

/// Money, in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(into = "StoredCost")]
pub enum Cost {
    /// The agent named the amount.
    Reported(f64),
    /// The agent named tokens, and the price of its model is known.
    Computed(f64),
    #[default]
    Unknown,
}

/// Where an amount comes from; the later one is the weaker one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostSource {
    Reported,
    Computed,
    #[default]
    Unknown,
}

impl Cost {
    /// Returns the amount, unless nobody knows it. What is no amount of money is not known.
    pub fn amount(self) -> Option<f64> {
        match self {
            Cost::Reported(usd) | Cost::Computed(usd) => Some(usd).filter(|it| it.is_finite() && 0.0 <= *it),
            Cost::Unknown => None,
        }
    }

    pub fn source(self) -> CostSource {
        match self {
            Cost::Reported(_) if self.amount().is_some() => CostSource::Reported,
            Cost::Computed(_) if self.amount().is_some() => CostSource::Computed,
            Cost::Reported(_) | Cost::Computed(_) | Cost::Unknown => CostSource::Unknown,
        }
    }
}

#[derive(Serialize)]
struct StoredCost {
    amount: Option<f64>,
    source: CostSource,
}

impl From<Cost> for StoredCost {
    fn from(cost: Cost) -> StoredCost {
        StoredCost { amount: cost.amount(), source: cost.source() }
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum StoredAmount {
            Sourced {
                amount: Option<f64>,
                source: CostSource,
            },
            /// A number, as it was stored before; 0 stood for an agent that named none.
            Amount(f64),
        }
        Ok(match StoredAmount::deserialize(deserializer)? {
            StoredAmount::Sourced { amount: Some(usd), source: CostSource::Reported } => Cost::Reported(usd),
            StoredAmount::Sourced { amount: Some(usd), source: CostSource::Computed } => Cost::Computed(usd),
            StoredAmount::Amount(usd) if usd != 0.0 => Cost::Reported(usd),
            StoredAmount::Sourced { .. } | StoredAmount::Amount(_) => Cost::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, TokenClasses, Usage};

    #[test]
    fn what_was_stored_before_the_classes_is_read() {
        let old: Usage = serde_json::from_str(r#"{"tokens":500,"usd":0.02}"#).expect("an old usage");
        let tokens = TokenClasses { input: 500, ..TokenClasses::default() };
        assert_eq!(old, Usage { tokens, cost: Cost::Reported(0.02) });
        let silent: Usage = serde_json::from_str(r#"{"tokens":0,"usd":0.0}"#).expect("an old usage");
        assert_eq!(silent, Usage::default());
    }

    #[test]
    fn a_cost_is_stored_with_its_source_and_unknown_is_no_zero() {
        let text = |cost| serde_json::to_string(&cost).expect("plain data");
        assert_eq!(text(Cost::Computed(0.5)), r#"{"amount":0.5,"source":"computed"}"#);
        for unknown in [Cost::Unknown, Cost::Reported(-1.0), Cost::Reported(f64::NAN)] {
            assert_eq!(text(unknown), r#"{"amount":null,"source":"unknown"}"#);
        }
        for cost in [Cost::Reported(1.5), Cost::Computed(0.0), Cost::Unknown] {
            assert_eq!(serde_json::from_str::<Cost>(&text(cost)).expect("read again"), cost);
        }
    }

    #[test]
    fn sums_stay_at_the_largest_number() {
        let much = TokenClasses { input: u64::MAX, cache_write: 1, cache_read: 1, output: 1 };
        assert_eq!(much.plus(much).total(), u64::MAX);
    }
}
