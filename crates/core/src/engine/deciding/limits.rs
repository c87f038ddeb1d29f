//! What a run may spend: iterations, calls in a window, tokens, money, time. Everything here
//! answers "may another call go out?" and changes nothing.

use crate::engine::deciding::allowance::MoneyCap;
use crate::engine::journal::hold::{Hold, HoldKind};
use crate::engine::state::parts::spent::{Spent, dollars};
use crate::engine::state::run_state::State;
use crate::workflow::model::{Phase, Window, Workflow};
use loop_base::text::counted;
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
    if let Some(reason) = money_reached(workflow, phase, state) {
        return stopped(reason);
    }
    let tokens = state.spent.tokens.total();
    if let Some(most) = limits.tokens.filter(|most| *most <= tokens) {
        return stopped(format!("the budget of {most} tokens is used up ({tokens} spent)"));
    }
    if let Some(time) = limits.time.filter(|most| *most <= state.spent.ms) {
        return stopped(format!("the time limit of {} is used up", length(time)));
    }
    None
}

/// Says which cap on money keeps the next call back, if one does. The day's cap is shared with other runs,
/// so it is asked for when the call is about to begin.
fn money_reached(workflow: &Workflow, phase: &Phase, state: &State) -> Option<String> {
    let limits = &workflow.limits;
    let phase_spent = &state.phases[state.phase].spent;
    let run = limits.usd.map(|most| (most, MoneyCap::Run(most), &state.spent));
    let of_phase = limits.phase_usd.map(|most| {
        let cap = MoneyCap::Phase { most, phase: phase.name.clone() };
        (most, cap, phase_spent)
    });
    let day = limits.day_usd.map(|most| (f64::INFINITY, MoneyCap::Day(most), &state.spent));
    for (most, cap, spent) in [run, of_phase, day].into_iter().flatten() {
        let Some(charged) = state.charged(workflow, spent) else {
            return Some(format!(
                "the cost of call {} is unknown, so {} cannot be kept; write call_usd = DOLLARS into [limits]",
                state.calls_total,
                cap.words()
            ));
        };
        if most <= charged {
            return Some(format!("{} is used up ({}){}", cap.words(), spent_words(spent), cap.raised_by()));
        }
    }
    None
}

fn spent_words(spent: &Spent) -> String {
    let known = format!("{} spent", dollars(spent.usd));
    match (spent.unknown_calls, spent.reported_calls + spent.computed_calls) {
        (0, _) => known,
        (calls, 0) => {
            format!("{} of unknown cost, taken as {}", counted(calls, "call"), dollars(spent.assumed_usd))
        }
        (calls, _) => {
            let assumed = dollars(spent.assumed_usd);
            format!("{known}, {} of unknown cost taken as {assumed}", counted(calls, "call"))
        }
    }
}
