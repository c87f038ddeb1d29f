//! What counts against caps on money: what is known of calls, and what is assumed of the others.

use crate::engine::state::parts::spent::Spent;
use crate::engine::state::run_state::State;
use crate::workflow::model::Workflow;

impl State {
    /// Returns what the next call is taken to cost: as much as the dearest of the last ones, else what
    /// the workflow says about any call.
    pub fn expected_call_usd(&self, workflow: &Workflow) -> Option<f64> {
        self.recent_costs.dearest().or(workflow.limits.call_usd)
    }

    /// Returns what counts against caps of what was spent; nothing where the cost of a call can be neither
    /// known nor assumed.
    pub fn charged(&self, workflow: &Workflow, spent: &Spent) -> Option<f64> {
        let charged = spent.usd + spent.assumed_usd;
        match spent.unpriced_calls {
            0 => Some(charged),
            calls => Some(charged + f64::from(calls) * self.expected_call_usd(workflow)?),
        }
    }
}
