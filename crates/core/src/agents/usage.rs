//! What a call used up, as the agent counts it: turned into the four classes by the rules of its row.
//! Whatever an agent counts twice, late, below zero or not at all, the sum only grows, and what was not
//! counted stays unknown instead of becoming zero.

use super::InvocationContext;
use crate::agent_table::{AgentRow, CachedInput, UsageRow, UsageScope};
use crate::engine::{Cost, TokenClasses, Usage};
use crate::prices::Price;
use crate::workflow::model::Agent;

/// Text that a model wrote has about four bytes for each token. It stands in for the count until the
/// agent gives one.
const BYTES_PER_TOKEN: u64 = 4;

/// A least amount for a cap that an agent keeps: less than a cent would be written as none.
const CAP_LEAST: f64 = 0.01;

/// No call costs as much; an agent that says so has told nothing.
const CALL_USD_MOST: f64 = 100_000.0;

/// No call uses as many: the fastest models would write for years. An agent that says so has told nothing.
const CALL_TOKENS_MOST: u64 = 1_000_000_000_000;

/// Requests whose further pieces are awaited. Agents of an agent work side by side, hardly ever so many.
const OPEN_MOST: usize = 32;

/// What a call used up so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgentUsage {
    pub tokens: TokenClasses,
    /// The part of the tokens that is not in `usd`.
    pub unpriced: TokenClasses,
    /// What the agent says it cost.
    pub usd: Option<f64>,
    /// Requests to the model.
    pub turns: u32,
    /// Whether a count was left out because no call can use as much.
    pub is_absurd: bool,
}

impl AgentUsage {
    /// Returns the usage with its cost: as reported, or computed from the price of the model, or unknown.
    pub fn priced(&self, price: Option<&Price>) -> Usage {
        Usage { tokens: self.tokens, cost: self.cost(price) }
    }

    fn cost(&self, price: Option<&Price>) -> Cost {
        // An agent that knows no price says 0, and so does one that wants to look cheap.
        let reported = self.usd.filter(|usd| 0.0 < *usd);
        match (reported, price) {
            (Some(usd), Some(price)) if self.unpriced.total() != 0 => {
                computed(usd + price.of(&self.unpriced))
            }
            (Some(usd), _) => Cost::Reported(usd),
            (None, Some(price)) if self.tokens.total() != 0 => computed(price.of(&self.tokens)),
            (None, _) => Cost::Unknown,
        }
    }
}

/// A count of tokens may be as absurd as a cost.
fn computed(usd: f64) -> Cost {
    if usd <= CALL_USD_MOST { Cost::Computed(usd) } else { Cost::Unknown }
}

/// UsageCounts as an agent gives them: cached tokens may be input too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UsageCounts {
    pub input: u64,
    pub cache_write: u64,
    pub cache_read: u64,
    pub output: u64,
}

impl UsageCounts {
    pub(super) fn plus(&self, other: &UsageCounts) -> UsageCounts {
        UsageCounts {
            input: self.input.saturating_add(other.input),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            output: self.output.saturating_add(other.output),
        }
    }

    fn classes(&self, cached: CachedInput) -> TokenClasses {
        let UsageCounts { input, cache_write, cache_read, output } = *self;
        let input = match cached {
            CachedInput::Beside => input,
            CachedInput::Within => input.saturating_sub(cache_read).saturating_sub(cache_write),
        };
        TokenClasses { input, cache_write, cache_read, output }
    }
}

/// Adds up what one stream says about usage.
#[derive(Debug, Default)]
pub(super) struct UsageMeter {
    row: Option<UsageRow>,
    counted: TokenClasses,
    usd: Option<f64>,
    /// The event that was counted last; the same one again says nothing new.
    last_id: Option<String>,
    /// Requests that no count covers yet.
    requests: Vec<OpenRequest>,
    /// Those of them that are no longer awaited.
    closed: TokenClasses,
    turns: u32,
    is_absurd: bool,
}

#[derive(Debug)]
struct OpenRequest {
    id: String,
    tokens: TokenClasses,
    bytes: u64,
}

impl OpenRequest {
    fn tokens(&self) -> TokenClasses {
        TokenClasses { output: self.tokens.output.max(self.bytes / BYTES_PER_TOKEN), ..self.tokens }
    }
}

impl UsageMeter {
    pub(super) fn new(row: UsageRow) -> UsageMeter {
        UsageMeter { row: Some(row), ..UsageMeter::default() }
    }

    /// Takes a count of the agent's own. `id` names the event, where it has a name.
    pub(super) fn count(&mut self, id: Option<&str>, counts: UsageCounts, usd: Option<f64>) {
        let Some(row) = self.row else { return };
        if id.is_some() && self.last_id.as_deref() == id {
            return;
        }
        self.last_id = id.map(str::to_owned);
        let tokens = self.believable(counts.classes(row.cached));
        let usd = usd.filter(|it| (0.0..=CALL_USD_MOST).contains(it));
        let is_counted = tokens.total() != 0;
        match row.scope {
            UsageScope::Sum => {
                self.counted = self.counted.plus(tokens);
                self.usd = usd.map(|it| it + self.usd.unwrap_or_default()).or(self.usd);
            }
            // A last word without a figure does not take back those before it.
            UsageScope::Last | UsageScope::Cumulative => {
                let is_more = self.counted.total() <= tokens.total();
                self.counted = if is_more { tokens } else { self.counted };
                self.usd = usd.map(|it| it.max(self.usd.unwrap_or_default())).or(self.usd);
            }
        }
        // A count covers the requests before it, and so does a cost; without a count their own tokens stay.
        if is_counted || usd.is_some() {
            let open = self.open();
            self.counted = if is_counted { self.counted } else { self.counted.plus(open) };
            self.requests.clear();
            self.closed = TokenClasses::default();
        }
    }

    /// Takes a piece of a request's answer: what went in, and how many bytes came out. The count of the
    /// output in it is that of the beginning.
    pub(super) fn request(&mut self, id: &str, counts: UsageCounts, bytes: u64) {
        let Some(row) = self.row else { return };
        if let Some(open) = self.requests.iter_mut().rev().find(|it| it.id == id) {
            open.bytes = open.bytes.saturating_add(bytes);
            return;
        }
        self.turn();
        if self.requests.len() == OPEN_MOST {
            self.closed = self.closed.plus(self.requests.remove(0).tokens());
        }
        let tokens = self.believable(counts.classes(row.cached));
        self.requests.push(OpenRequest { id: id.to_owned(), tokens, bytes });
    }

    /// Returns the count, or none where no call can use as much.
    fn believable(&mut self, tokens: TokenClasses) -> TokenClasses {
        if tokens.total() <= CALL_TOKENS_MOST {
            return tokens;
        }
        self.is_absurd = true;
        TokenClasses::default()
    }

    /// Takes a further request to the model.
    pub(super) fn turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// The tokens of the requests that no count covers.
    fn open(&self) -> TokenClasses {
        self.requests.iter().map(OpenRequest::tokens).fold(self.closed, |sum, it| sum.plus(it))
    }

    pub(super) fn so_far(&self) -> AgentUsage {
        let open = self.open();
        let unpriced = if self.usd.is_some() { open } else { TokenClasses::default() };
        AgentUsage {
            tokens: self.counted.plus(open),
            unpriced,
            usd: self.usd,
            turns: self.turns,
            is_absurd: self.is_absurd,
        }
    }
}

/// Returns the words that hand an agent the caps which it keeps itself; the user's own words win.
pub(super) fn cap_flags(row: &AgentRow, agent: &Agent, context: &InvocationContext<'_>) -> Vec<String> {
    let usd = context.usd.map(|it| format!("{:.4}", it.max(CAP_LEAST)));
    let turns = context.turns.map(|it| it.to_string());
    let is_set = |flag: &str| agent.args.iter().any(|it| it == flag || it.starts_with(&format!("{flag}=")));
    [(row.usage.usd_flag, usd), (row.usage.turns_flag, turns)]
        .into_iter()
        .filter_map(|(flag, value)| Some((flag.filter(|it| !is_set(it))?, value?)))
        .flat_map(|(flag, value)| [flag.to_owned(), value])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{AgentUsage, UsageCounts, UsageMeter};
    use crate::agent_table::AgentTable;
    use crate::engine::{Cost, TokenClasses};
    use crate::prices::PriceList;

    fn meter(agent: &str) -> UsageMeter {
        UsageMeter::new(AgentTable::default().named(agent).expect("an agent").usage)
    }

    fn counts(input: u64, cache_read: u64, output: u64) -> UsageCounts {
        UsageCounts { input, cache_write: 0, cache_read, output }
    }

    #[test]
    fn cached_tokens_are_counted_once_whoever_counts() {
        let tokens = TokenClasses { input: 1134, cache_write: 0, cache_read: 100, output: 56 };
        for (agent, input) in [("codex", 1234), ("gemini", 1234), ("opencode", 1134), ("claude", 1134)] {
            let mut meter = meter(agent);
            meter.count(None, counts(input, 100, 56), None);
            assert_eq!(meter.so_far().tokens, tokens, "{agent}");
        }
    }

    #[test]
    fn a_count_that_no_call_can_use_is_left_out() {
        let mut meter = meter("claude");
        meter.count(None, counts(u64::MAX, 0, 5), None);
        assert_eq!((meter.so_far().tokens.total(), meter.so_far().is_absurd), (0, true));
        meter.count(None, counts(10, 0, 5), None);
        assert_eq!(meter.so_far().tokens.total(), 15);
    }

    #[test]
    fn steps_are_added_up_once_each() {
        let mut meter = meter("opencode");
        for id in ["a", "a", "b"] {
            meter.count(Some(id), counts(10, 0, 1), Some(0.5));
        }
        assert_eq!((meter.so_far().tokens.total(), meter.so_far().usd), (22, Some(1.0)));
    }

    #[test]
    fn a_conversations_total_never_shrinks() {
        let mut meter = meter("codex");
        for input in [500, 900, 0] {
            meter.count(None, counts(input, 0, 0), None);
        }
        assert_eq!(meter.so_far().tokens.input, 900);
    }

    #[test]
    fn requests_count_until_the_agent_does() {
        let mut meter = meter("claude");
        meter.request("m1", counts(1000, 0, 1), 40);
        meter.request("m1", counts(1000, 0, 1), 40);
        meter.request("m2", counts(1200, 300, 1), 4);
        let so_far = meter.so_far();
        assert_eq!((so_far.tokens.input, so_far.tokens.output, so_far.turns), (2200, 21, 2));
        meter.count(None, counts(2200, 300, 90), Some(0.02));
        assert_eq!((meter.so_far().tokens.output, meter.so_far().usd), (90, Some(0.02)));
        meter.request("m3", counts(100, 0, 1), 0);
        assert_eq!(meter.so_far().unpriced.input, 100);
        meter.count(None, UsageCounts::default(), Some(0.03));
        assert_eq!((meter.so_far().unpriced.total(), meter.so_far().tokens.input), (0, 2300));
        meter.count(None, UsageCounts::default(), Some(-4.0));
        assert_eq!((meter.so_far().tokens.output, meter.so_far().usd), (91, Some(0.03)));
    }

    #[test]
    fn a_cost_is_reported_computed_or_unknown_and_never_a_made_up_zero() {
        let prices = PriceList::shipped();
        let price = prices.of("claude-opus-4-8[1m]");
        let tokens = TokenClasses { input: 1_000_000, ..TokenClasses::default() };
        let used = AgentUsage { tokens, ..AgentUsage::default() };
        assert_eq!(used.priced(price).cost, Cost::Computed(5.0));
        assert_eq!(used.priced(None).cost, Cost::Unknown);
        let free = AgentUsage { usd: Some(0.0), ..used };
        assert_eq!((free.priced(None).cost, free.priced(price).cost), (Cost::Unknown, Cost::Computed(5.0)));
        let idle = AgentUsage { usd: Some(0.0), ..AgentUsage::default() };
        assert_eq!(idle.priced(None).cost, Cost::Unknown);
        let absurd =
            AgentUsage { tokens: TokenClasses { input: u64::MAX, ..TokenClasses::default() }, ..used };
        assert_eq!(absurd.priced(price).cost, Cost::Unknown);
        let more = AgentUsage { usd: Some(1.0), unpriced: tokens, ..used };
        assert_eq!(more.priced(price).cost, Cost::Computed(6.0));
    }
}
