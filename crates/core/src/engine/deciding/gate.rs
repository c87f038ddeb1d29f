//! Gates: a person at the boundary of a phase. A gate is due when the mode lists it, when it is
//! required whatever the mode, when its condition is true or unknown, or when somebody once found it
//! needed: an agent can only add one, and what was asked for stays until a person has passed it.

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
    bound.chain(wanted).find(|it| !state.approved.contains_key(*it)).cloned()
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
