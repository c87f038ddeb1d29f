//! What models cost: the list that comes with the program, and the user's own on top of it. A model that
//! is in neither has no price, and what it costs is unknown; a price is never guessed from a similar name.

use crate::engine::TokenClasses;
use serde::Deserialize;
use std::collections::BTreeMap;

const SHIPPED: &str = include_str!("../prices.toml");

const MILLION: f64 = 1e6;

/// The prices of one model, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    input: f64,
    /// Where nothing is said, writing to a cache costs as much as input.
    cache_write: Option<f64>,
    /// Where nothing is said, reading from a cache costs as much as input.
    cache_read: Option<f64>,
    output: f64,
}

impl Price {
    /// Returns what these tokens cost.
    pub fn of(&self, tokens: &TokenClasses) -> f64 {
        let cost = |count: u64, price: f64| count as f64 * price / MILLION;
        cost(tokens.input, self.input)
            + cost(tokens.cache_write, self.cache_write.unwrap_or(self.input))
            + cost(tokens.cache_read, self.cache_read.unwrap_or(self.input))
            + cost(tokens.output, self.output)
    }

    fn is_sound(&self) -> bool {
        let all = [Some(self.input), self.cache_write, self.cache_read, Some(self.output)];
        all.into_iter().flatten().all(|it| it.is_finite() && 0.0 <= it)
    }
}

/// Prices by model.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceList {
    /// The day of the shipped list.
    pub as_of: String,
    models: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default)]
    as_of: Option<String>,
    #[serde(default, rename = "sources")]
    _sources: Vec<String>,
    #[serde(default)]
    models: BTreeMap<String, Price>,
}

impl PriceList {
    /// The list that comes with the program.
    pub fn shipped() -> PriceList {
        let file: PriceFile = toml::from_str(SHIPPED).expect("the shipped prices are TOML");
        PriceList { as_of: file.as_of.unwrap_or_default(), models: lower(file.models) }
    }

    /// Puts the user's own prices on top, or says what is wrong with them.
    pub fn with(mut self, text: &str) -> Result<PriceList, String> {
        let file: PriceFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|it| text[..it.start.min(text.len())].lines().count().max(1));
            let line = line.map(|it| format!("line {it}: ")).unwrap_or_default();
            format!("{line}{}", error.message())
        })?;
        if let Some((model, _)) = file.models.iter().find(|(_, price)| !price.is_sound()) {
            return Err(format!("the price of {model} is below 0 or no number"));
        }
        self.models.extend(lower(file.models));
        Ok(self)
    }

    /// Returns the price of a model, by any name that an agent has for it.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let model = model.to_ascii_lowercase();
        if let Some(price) = self.models.get(&model) {
            return Some(price);
        }
        let name = model.rsplit('/').next().unwrap_or(&model);
        let fits = |it: &&String| name.strip_prefix(it.as_str()).is_some_and(is_same_model);
        let known = self.models.keys().filter(fits).max_by_key(|it| it.len())?;
        self.models.get(known)
    }
}

fn lower(models: BTreeMap<String, Price>) -> BTreeMap<String, Price> {
    models.into_iter().map(|(name, price)| (name.to_ascii_lowercase(), price)).collect()
}

/// Whether what follows a known name leaves it the same model: a date, a tag in brackets, `latest`,
/// `preview`. Anything else, like `-mini`, may have another price.
fn is_same_model(rest: &str) -> bool {
    let rest = rest.split_once('[').map_or(rest, |it| it.0);
    let parts = rest.split(['-', '@', ':']).filter(|it| !it.is_empty());
    let is_date = |it: &str| 2 <= it.len() && it.chars().all(|digit| digit.is_ascii_digit());
    let begins = rest.is_empty() || rest.starts_with(['-', '@', ':']);
    begins && parts.into_iter().all(|it| is_date(it) || it == "latest" || it == "preview")
}

#[cfg(test)]
mod tests {
    use super::PriceList;
    use crate::engine::TokenClasses;

    #[test]
    fn the_shipped_list_is_dated_and_sound() {
        let prices = PriceList::shipped();
        assert_eq!(prices.as_of.len(), 10);
        assert!(20 < prices.models.len());
        for (model, price) in &prices.models {
            assert!(price.is_sound() && price.input < price.output, "{model}");
            assert!(price.cache_read < Some(price.input), "{model}");
        }
    }

    #[test]
    fn a_name_is_the_same_model_or_has_no_price() {
        let prices = PriceList::shipped();
        let same = [
            "claude-opus-4-8",
            "claude-opus-4-8[1m]",
            "claude-opus-4-5-20251101",
            "anthropic/claude-opus-4-8",
            "Claude-Opus-4-8",
        ];
        for name in same {
            assert_eq!(prices.of(name), prices.of("claude-opus-4-8"), "{name}");
        }
        assert!(prices.of("gpt-5-2025-08-07").is_some() && prices.of("gemini-3-flash-preview").is_some());
        for other in ["claude-opus-4-9", "gpt-5-pro", "gpt-5.4-pro", "opus", "", "llama", "gpt-55"] {
            assert_eq!(prices.of(other), None, "{other}");
        }
    }

    #[test]
    fn the_users_prices_win_and_mistakes_are_named() {
        let mine = "[models]\n\"gpt-5\" = { input = 2, output = 4 }\n\"local\" = { input = 0, output = 0 }\n";
        let prices = PriceList::shipped().with(mine).expect("prices");
        let tokens = TokenClasses { input: 500_000, cache_write: 0, cache_read: 500_000, output: 1_000_000 };
        assert_eq!(prices.of("gpt-5").map(|it| it.of(&tokens)), Some(6.0));
        assert_eq!(prices.of("local").map(|it| it.of(&tokens)), Some(0.0));
        let wrong = |text: &str| PriceList::shipped().with(text).expect_err("a mistake");
        assert!(wrong("[models]\n\"x\" = { input = -1, output = 2 }").contains("the price of x"));
        assert!(
            wrong("[models]\n\"x\" = { inptu = 1 }").starts_with("line 2"),
            "{}",
            wrong("[models]\n\"x\" = { inptu = 1 }")
        );
    }
}
