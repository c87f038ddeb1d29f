//! The next call: which of a phase's skills it is, which model it asks for, and what is measured
//! after it.

use super::event::{Call, Effect, Step};
use super::state::State;
use crate::workflow::model::{Model, Phase, Workflow};

/// Returns the call that is due.
pub(super) fn call(workflow: &Workflow, phase: &Phase, state: &State) -> Call {
    let step = step(workflow, phase, state);
    Call {
        number: state.calls_total + 1,
        attempt: state.void_attempts + 1,
        phase: state.phase,
        iteration: state.visit.iteration + 1,
        model: model(workflow, phase, state, &step),
        item: state.item.clone(),
        step,
        epoch: state.epoch,
    }
}

/// Whether every skill of a phase is done or was skipped by a person.
pub(super) fn is_done_with_skills(phase: &Phase, state: &State) -> bool {
    !phase.skills.is_empty() && !phase.skills.iter().any(|it| is_due(state, it))
}

/// Whether a phase has another skill to call after this one.
pub(super) fn more_skills_than(phase: &Phase, state: &State, skill: &str) -> bool {
    phase.skills.iter().any(|it| it != skill && is_due(state, it))
}

fn is_due(state: &State, skill: &String) -> bool {
    !state.visit.skills_done.contains(skill) && !state.skipped.contains_key(skill)
}

/// The skill that looks at a failure, else the next one that is due, else the last one that nobody
/// skipped, else the phase's own prompt.
fn step(workflow: &Workflow, phase: &Phase, state: &State) -> Step {
    let fix = workflow.retries.as_ref().and_then(|it| it.with.clone());
    if let Some(skill) = fix.filter(|_| state.visit.fix_due) {
        return Step::Fix(skill);
    }
    let wanted = |it: &&String| !state.skipped.contains_key(*it);
    let due = phase.skills.iter().find(|it| is_due(state, it));
    match due.or(phase.skills.iter().rev().find(wanted)) {
        Some(skill) => Step::Skill(skill.clone()),
        None => Step::Main,
    }
}

fn model(workflow: &Workflow, phase: &Phase, state: &State, step: &Step) -> Option<String> {
    let role = match step {
        Step::Main => &phase.role,
        Step::Skill(skill) | Step::Fix(skill) => skill,
    };
    let models = &workflow.models;
    let profile = models.profile.as_ref().and_then(|it| models.profiles.get(it));
    let by_role = models.roles.get(role).or_else(|| profile.and_then(|it| it.get(role)));
    match &phase.model {
        Some(Model::Named(name)) => Some(name.clone()),
        Some(Model::Differing { of, other_than, unknown }) => {
            // A phase whose model nobody knows is taken to have run with the usual one.
            let other = state.models.get(other_than).or(workflow.agent.model.as_ref()).unwrap_or(unknown);
            if of.contains(other) {
                of.iter().find(|it| *it != other).cloned()
            } else {
                Some(unknown.clone())
            }
        }
        None => by_role.or(workflow.agent.model.as_ref()).cloned(),
    }
}

/// Checks are run after the last of a phase's calls; what the tree looks like is seen after each.
pub(super) fn measure(workflow: &Workflow, phase: &Phase, state: &State, call: &Call) -> Effect {
    let skill_deliverables =
        |skill: &String| workflow.skills.get(skill).map(|it| it.deliverables.clone()).unwrap_or_default();
    match &call.step {
        Step::Fix(_) => Effect::Measure { checks: Vec::new(), deliverables: Vec::new() },
        Step::Skill(skill) if more_skills_than(phase, state, skill) => {
            Effect::Measure { checks: Vec::new(), deliverables: skill_deliverables(skill) }
        }
        Step::Skill(skill) => {
            let mut deliverables = skill_deliverables(skill);
            deliverables.extend(phase.deliverables.iter().cloned());
            Effect::Measure { checks: phase.checks.clone(), deliverables }
        }
        Step::Main => {
            Effect::Measure { checks: phase.checks.clone(), deliverables: phase.deliverables.clone() }
        }
    }
}
