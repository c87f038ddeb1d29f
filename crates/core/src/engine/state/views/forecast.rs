//! What a run is going to cost, by its own history. It is for people, and nothing is decided by it.

use crate::engine::state::run_state::State;
use crate::engine::state::views::status::Status;
use crate::workflow::model::Workflow;
use serde::Serialize;

/// A run that has hardly begun says nothing about its end.
const PERCENT_LEAST: u32 = 10;

/// What a run is going to cost if it continues as it did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// What one of its last calls cost on average.
    pub call_usd: f64,
    /// How many more calls its budget pays for.
    pub calls_left: Option<u64>,
    /// What it will have cost when it is done.
    pub total_usd: Option<f64>,
}

impl State {
    /// Returns what the run is going to cost, where its calls have told what they cost.
    pub fn forecast(&self, workflow: &Workflow) -> Option<Forecast> {
        let call_usd = self.recent_costs.mean().filter(|_| !Status::of(self).is_closed())?;
        let left = workflow.limits.usd.zip(self.charged(workflow, &self.spent));
        let left = left.map(|(most, charged)| (most - charged).max(0.0));
        let percent = self.progress_percent(workflow);
        let is_far = PERCENT_LEAST <= percent && self.spent.unknown_calls == 0;
        Some(Forecast {
            call_usd,
            // A cast of what is too large stays at the largest number.
            calls_left: left.filter(|_| 0.0 < call_usd).map(|it| (it / call_usd).ceil() as u64),
            total_usd: is_far.then(|| self.spent.usd * 100.0 / f64::from(percent)),
        })
    }
}
