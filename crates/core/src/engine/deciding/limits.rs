//! What a run may spend: iterations, calls in a window, tokens, money, time. Everything here
//! answers "may another call go out?" and changes nothing.

use crate::engine::journal::hold::{Hold, HoldKind};
use crate::engine::standing::state::State;
use crate::workflow::model::{Phase, Window, Workflow};
use loop_base::time::{Timestamp, length};

/// Returns the end of the window when no call is left in it.
pub(crate) fn window_spent(
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
pub(crate) fn reached(workflow: &Workflow, phase: &Phase, state: &State) -> Option<Hold> {
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
