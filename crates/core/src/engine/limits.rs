//! What a run may spend: iterations, calls in a window, tokens, money, time. Everything here
//! answers "may another call go out?" and changes nothing.

use super::event::{Hold, HoldKind};
use super::state::State;
use crate::workflow::model::{Millis, Phase, Window, Workflow};
use loop_base::time::{Timestamp, length};
use serde::{Deserialize, Serialize};

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The provider refuses calls.
    Provider,
    /// The window of calls is used up.
    Window,
    /// A failure is tried again after a pause.
    Backoff,
}

/// Calls in the current window. It is fixed, not sliding: it begins with its first call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub start: Timestamp,
    pub made: u32,
    /// A person allowed more until then.
    pub granted: Timestamp,
}

impl Calls {
    /// Returns the window as it is at `now`: a window that is over, or that seems to begin in the
    /// future because a clock was set back, is empty.
    pub fn at(self, window: &Window, now: Timestamp) -> Calls {
        let over = self.start.plus(window.every) <= now || now < self.start;
        if over { Calls { start: now, made: 0, granted: self.granted } } else { self }
    }

    pub(super) fn count(&mut self, window: Option<&Window>, now: Timestamp) {
        if let Some(window) = window {
            *self = self.at(window, now);
        }
        self.made = self.made.saturating_add(1);
    }
}

/// How long to wait before a provider that could not be reached is tried again: a cable that was
/// pulled is back in seconds, a service in minutes. So many tries take an hour, after which a person
/// should know.
const REACH_FIRST: Millis = 5_000;
const REACH_MOST: Millis = 300_000;
const REACH_TRIES: u32 = 16;

/// Returns the pause after so many tries that came to nothing, or nothing when it is a person's turn.
/// A workflow that says how long to wait for failures from outside is followed.
pub(super) fn pause(workflow: &Workflow, tries: u32) -> Option<Millis> {
    let rules = workflow.retries.as_ref().and_then(|it| it.backoff.get("external"));
    let (first, most, at_most) =
        rules.map_or((REACH_FIRST, REACH_MOST, REACH_TRIES), |it| (it.first, it.most, it.tries));
    (tries < at_most).then(|| first.saturating_mul(1 << tries.min(30)).min(most))
}

/// Returns the end of the window when no call is left in it.
pub(super) fn window_spent(
    workflow: &Workflow,
    state: &State,
    now: Timestamp,
) -> Option<(Timestamp, Window)> {
    let window = workflow.limits.window.as_ref()?;
    let calls = state.calls.at(window, now);
    let spent = window.calls <= calls.made && calls.granted <= now;
    spent.then(|| (calls.start.plus(window.every), window.clone()))
}

/// Returns why the run must rest although nothing went wrong, if it must.
pub(super) fn reached(workflow: &Workflow, phase: &Phase, state: &State) -> Option<Hold> {
    let capped = |reason| Some(Hold { kind: HoldKind::Capped, reason });
    let stopped = |reason| Some(Hold { kind: HoldKind::Stopped, reason });
    let limits = &workflow.limits;
    if let Some(most) = state.iterations_limit(workflow).filter(|_| phase.counted)
        && most <= state.iterations_counted
    {
        return capped(format!("{most} of {most} iterations used{}", state.cause()));
    }
    let most = phase.iterations.unwrap_or(limits.phase_iterations);
    if most <= state.visit.iteration {
        return capped(format!("{most} of {most} iterations used in {}{}", phase.name, state.cause()));
    }
    if let Some(usd) = limits.usd.filter(|most| *most <= state.spent.usd) {
        return stopped(format!("the budget of ${usd:.2} is used up (${:.2} spent)", state.spent.usd));
    }
    if let Some(tokens) = limits.tokens.filter(|most| *most <= state.spent.tokens) {
        return stopped(format!("the budget of {tokens} tokens is used up ({} spent)", state.spent.tokens));
    }
    if let Some(time) = limits.time.filter(|most| *most <= state.spent.ms) {
        return stopped(format!("the time limit of {} is used up", length(time)));
    }
    None
}
