//! What all systems of a pool may use up together, counted from its beginning. Each run still has limits
//! of its own; these are looked at whenever a run has written something, so a cap is passed by no more
//! than the calls that are under way.

use super::follow::Followed;
use loop_base::text::counted;
use loop_base::time::{Timestamp, length};
use std::collections::HashMap;

/// The caps of one `loop run --jobs`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Caps {
    pub iterations: Option<u32>,
    pub micro_usd: Option<i64>,
    pub tokens: Option<u64>,
    pub time_ms: Option<u64>,
}

/// What was used up, of everything that is counted.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    iterations: i64,
    micro_usd: i64,
    tokens: i64,
}

impl Used {
    fn of(run: &Followed) -> Used {
        let Followed { row, workflow, state, .. } = run;
        // A call of unknown cost counts here as it does for the run itself.
        let usd = state.charged(workflow, &state.spent).unwrap_or(0.0);
        Used { iterations: row.iterations_total, micro_usd: (usd * 1e6).round() as i64, tokens: row.tokens }
    }
}

/// Counts what the runs of a pool use up.
pub(super) struct Counter {
    caps: Caps,
    began: Timestamp,
    /// What each run had used when the pool saw it first.
    before: HashMap<String, Used>,
    now: HashMap<String, Used>,
}

impl Counter {
    pub(super) fn new(caps: Caps, began: Timestamp) -> Counter {
        Counter { caps, began, before: HashMap::new(), now: HashMap::new() }
    }

    /// Looks at a run. One that this pool opened had used nothing.
    pub(super) fn count(&mut self, run: &Followed, is_ours: bool) {
        let (row, used) = (&run.row, Used::of(run));
        self.before.entry(row.id.clone()).or_insert(if is_ours { Used::default() } else { used });
        self.now.insert(row.id.clone(), used);
    }

    /// What all runs have used up since the beginning.
    fn sum(&self, part: fn(&Used) -> i64) -> i64 {
        self.now.iter().map(|(id, used)| part(used) - self.before.get(id).map_or(0, part)).sum()
    }

    /// What a run may spend in its whole life: what it has spent, and what is left over all.
    pub(super) fn budget_of(&self, run: Option<&str>) -> Option<f64> {
        let most = self.caps.micro_usd?;
        let own = run.and_then(|it| self.now.get(it)).map_or(0, |it| it.micro_usd);
        Some((own + (most - self.sum(|it| it.micro_usd)).max(0)) as f64 / 1e6)
    }

    /// The same in tokens.
    pub(super) fn tokens_of(&self, run: Option<&str>) -> Option<u64> {
        let most = i64::try_from(self.caps.tokens?).unwrap_or(i64::MAX);
        let own = run.and_then(|it| self.now.get(it)).map_or(0, |it| it.tokens);
        let left = most.saturating_sub(self.sum(|it| it.tokens)).max(0);
        u64::try_from(own.saturating_add(left)).ok()
    }

    /// Says in words what that was.
    pub(super) fn used(&self) -> String {
        match self.sum(|it| it.micro_usd) {
            0 => String::new(),
            micro_usd => format!("${:.2}", micro_usd as f64 / 1e6),
        }
    }

    pub(super) fn began(&self) -> Timestamp {
        self.began
    }

    /// Says which cap is reached.
    pub(super) fn reached(&self, now: Timestamp) -> Option<String> {
        let Caps { iterations, micro_usd, tokens, time_ms } = self.caps;
        if let Some(most) = iterations.filter(|it| i64::from(*it) <= self.sum(|it| it.iterations)) {
            return Some(format!("{} over all systems (--max)", counted(most, "iteration")));
        }
        if let Some(most) = micro_usd.filter(|it| *it <= self.sum(|it| it.micro_usd)) {
            return Some(format!("${:.2} over all systems (--budget)", most as f64 / 1e6));
        }
        let used = u64::try_from(self.sum(|it| it.tokens)).unwrap_or(0);
        if let Some(most) = tokens.filter(|it| *it <= used) {
            return Some(format!("{} over all systems (--tokens)", counted(most, "token")));
        }
        let passed = u64::try_from(now.0 - self.began.0).unwrap_or(0);
        time_ms.filter(|it| *it <= passed).map(|it| format!("{} since the start (--time)", length(it)))
    }

    /// How long until the time is over.
    pub(super) fn time_left_ms(&self, now: Timestamp) -> Option<u64> {
        let passed = u64::try_from(now.0 - self.began.0).unwrap_or(0);
        self.caps.time_ms.map(|it| it.saturating_sub(passed))
    }
}
