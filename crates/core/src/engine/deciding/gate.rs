//! Gates: a person at the boundary of a phase. A gate is due when the mode lists it, when it is
//! required whatever the mode, when its condition is true or unknown, or when somebody once found it
//! needed: an agent can only add one, and what was asked for stays until a person has passed it. Work
//! goes on behind a boundary, so a gate that asks about the change is looked at once more where the
//! proof is taken, before anything leaves: what the change touches only since then is asked there.

use super::proving::is_guarded;
use crate::engine::judging::metrics::known;
use crate::engine::state::run_state::State;
use crate::facts::{FactName, FactWords};
use crate::workflow::condition::{Condition, Truth};
use crate::workflow::model::{Gate, GateUse, Next, Phase, PhaseId, Workflow};
use loop_base::time::Timestamp;
use loop_base::value::Value;

/// Returns the first gate of this boundary that nobody has passed yet.
pub(crate) fn due(workflow: &Workflow, boundary: PhaseId, state: &State) -> Option<String> {
    let phase = &workflow.phases[boundary];
    let bound = phase.gates.iter().filter(|it| requires(workflow, it, state)).map(|it| &it.gate);
    let wanted = state.gates_wanted.iter().filter(|it| belongs_here(workflow, boundary, it));
    let late = asked_late(workflow, boundary, state).map(|it| &it.gate.gate);
    late.chain(bound).chain(wanted).find(|it| !state.approved.contains_key(*it)).cloned()
}

/// A gate of an earlier phase, and what is to be asked of the change since that phase was left.
struct LateGate<'a> {
    gate: &'a GateUse,
    behind: &'a Phase,
    /// What the change touches that it did not touch then.
    facts: Vec<&'a str>,
    /// What was approved there and is another change by now.
    moved: Vec<&'a str>,
}

/// The gates of earlier phases at which nobody has seen what the change touches now, or how. They are asked where the
/// proof is taken: nothing has left by then, and no agent works on it afterwards.
fn asked_late<'a>(
    workflow: &'a Workflow,
    boundary: PhaseId,
    state: &'a State,
) -> impl Iterator<Item = LateGate<'a>> {
    let earlier = if is_guarded(workflow, boundary) { &workflow.phases[..boundary] } else { &[] };
    let uses = earlier.iter().flat_map(|behind| behind.gates.iter().map(move |gate| (behind, gate)));
    uses.filter_map(|(behind, gate)| {
        let seen = state.gates_about.get(&gate.gate);
        let is_new = |it: &&str| seen.is_none_or(|facts| !facts.contains(*it));
        let facts: Vec<&str> = touched(workflow, state, gate).filter(is_new).collect();
        let moved = moved(workflow, state, gate);
        (!facts.is_empty() || !moved.is_empty()).then_some(LateGate { gate, behind, facts, moved })
    })
}

/// What somebody approved at a gate and is not what it was: an approval is for the changes in the files that its facts
/// are about, so that work on others asks nobody again.
fn moved<'a>(workflow: &'a Workflow, state: &'a State, gate: &'a GateUse) -> Vec<&'a str> {
    let Some(approval) = state.gates_saw.get(&gate.gate) else { return Vec::new() };
    let named = gate.when.iter().flat_map(|it| it.names()).map(|it| it.0);
    let is_other =
        |it: &&str| approval.changes.get(*it).is_some_and(|digest| state.seen.about.get(*it) != Some(digest));
    named.filter(|it| workflow.facts.contains_key(*it)).filter(is_other).collect()
}

/// Says that what was approved at this gate is another change by now, who approved it and when, if so.
pub(crate) fn reopened(workflow: &Workflow, state: &State, gate: &str) -> Option<String> {
    let late = asked_late(workflow, state.phase, state).find(|it| it.gate.gate == gate)?;
    let approval = state.gates_saw.get(gate).filter(|_| !late.moved.is_empty())?;
    let touched: Vec<&str> = late.moved.into_iter().map(words).collect();
    let (by, at) = (&approval.by, approval.at);
    Some(format!("{}, and that part of them moved since {by} approved it at {at}", touched.join(" and ")))
}

/// What the change touches of that which this gate asks about, as its condition names it.
fn touched<'a>(workflow: &'a Workflow, state: &'a State, gate: &'a GateUse) -> impl Iterator<Item = &'a str> {
    let look = |name: &str| known(workflow, state, name);
    let asks = gate.when.as_ref().filter(|it| it.truth(&look) != Truth::False);
    let named = asks.into_iter().flat_map(|it| it.names()).map(|it| it.0);
    named.filter(|it| {
        workflow.facts.contains_key(*it) && known(workflow, state, it) == Some(Value::Bool(true))
    })
}

/// A gate that is wanted is asked at its own boundary, or here when that one is behind us: no way leads there
/// any more, neither in the order of the phases nor by the route that this one takes.
fn belongs_here(workflow: &Workflow, boundary: PhaseId, gate: &str) -> bool {
    let stands_at = |phase: &Phase| phase.gates.iter().any(|it| it.gate == gate);
    let follows = |id: &PhaseId| match workflow.phases[*id].next {
        Next::Phase(next) => Some(next),
        Next::Done => None,
    };
    // No way is longer than all the phases.
    let mut route = std::iter::successors(follows(&boundary), follows).take(workflow.phases.len());
    let is_ahead = workflow.phases[boundary + 1..].iter().any(stands_at)
        || route.any(|it| stands_at(&workflow.phases[it]));
    stands_at(&workflow.phases[boundary]) || !is_ahead
}

fn requires(workflow: &Workflow, gate: &GateUse, state: &State) -> bool {
    let listed = match &workflow.mode {
        Some(mode) => workflow.modes.get(mode).is_some_and(|gates| gates.contains(&gate.gate)),
        None => gate.when.is_none(),
    };
    let required = workflow.gates.get(&gate.gate).is_some_and(|it| it.required);
    let detected = gate
        .when
        .as_ref()
        .is_some_and(|when| when.truth(&|name| known(workflow, state, name)) != Truth::False);
    required || listed || detected
}

/// Returns why this gate is asked, in words; nothing where the workflow has no choice of gates.
pub(crate) fn reason(workflow: &Workflow, state: &State, gate: &str) -> Option<String> {
    let mode = workflow.mode.as_ref()?;
    if let Some(late) = asked_late(workflow, state.phase, state).find(|it| it.gate.gate == gate) {
        let found: Vec<&str> = late.facts.into_iter().map(words).collect();
        let phase = &late.behind.name;
        let fresh = format!("{}, which was not so when {phase} was left", found.join(" and "));
        let fresh = (!found.is_empty()).then_some(fresh);
        let why: Vec<String> = fresh.into_iter().chain(reopened(workflow, state, gate)).collect();
        return Some(format!("asked because {}", why.join("; and because ")));
    }
    if workflow.modes.get(mode).is_some_and(|it| it.iter().any(|it| it == gate)) {
        return Some(format!(
            "asked because the mode {} always asks the gate {gate}",
            String::from(mode.clone())
        ));
    }
    if workflow.gates.get(gate).is_some_and(|it| it.required) {
        return Some(format!("asked because the gate {gate} is required here"));
    }
    let look = |name: &str| known(workflow, state, name);
    let uses = workflow.phases.iter().flat_map(|it| &it.gates).filter(|it| it.gate == gate);
    let when: Vec<&Condition> =
        uses.filter_map(|it| it.when.as_ref()).filter(|it| it.truth(&look) != Truth::False).collect();
    let is_about_change = |it: &&str| *it != FactName::Autonomous.name();
    let holds = |it: &&str| look(it) == Some(Value::Bool(true));
    let named = when.iter().flat_map(|it| it.names()).map(|it| it.0);
    let found: Vec<&str> = named.filter(is_about_change).filter(holds).map(words).collect();
    Some(match (found.is_empty(), when.is_empty()) {
        (false, _) => format!("asked because {}", found.join(" and ")),
        (true, false) => "asked because what the change touches is unknown".to_owned(),
        (true, true) => "asked because the agent or an earlier change called for it".to_owned(),
    })
}

/// What a fact says about the change; a name that the author of a workflow chose stands for itself.
fn words(name: &str) -> &str {
    match FactName::named(name).map(|it| it.row().words) {
        Some(FactWords::State { is, .. }) => is,
        Some(FactWords::Count { .. } | FactWords::Text { .. }) | None => name,
    }
}

/// Returns until when a question at this gate can be approved.
pub(crate) fn expiry(gate: &Gate, now: Timestamp) -> Option<Timestamp> {
    gate.expires.or(gate.sign.then_some(SIGN_WITHIN_MS)).map(|it| now.plus(it))
}

/// How long a statement may be signed where the gate does not say it: over night, and no longer.
const SIGN_WITHIN_MS: u64 = 24 * 60 * 60 * 1000;
