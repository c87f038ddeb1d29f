//! The next call: which of a phase's skills it is, which model it asks for, and what is measured
//! after it.

use crate::agent_table::{AgentRow, is_same_family};
use crate::engine::journal::effect::{Call, Effect, OtherModel, Step};
use crate::engine::state::parts::visit::PhaseStatus;
use crate::engine::state::run_state::State;
use crate::facts::FactName;
use crate::workflow::model::{Model, Permissions, Phase, Workflow};

/// Returns the call that is due.
pub(crate) fn call(workflow: &Workflow, phase: &Phase, state: &State) -> Call {
    let step = step(workflow, phase, state);
    Call {
        number: state.calls_total + 1,
        attempt: state.void_attempts + 1,
        phase: state.phase,
        iteration: state.visit.iteration + 1,
        model: instead(state, model(workflow, phase, state, &step)),
        item: state.item.clone().map(Box::new),
        other_model: other_model(workflow, phase, state),
        step,
        epoch: state.epoch,
        unstarted: None,
    }
}

/// Whether every skill of a phase is done or was skipped by a person.
pub(crate) fn is_done_with_skills(phase: &Phase, state: &State) -> bool {
    !phase.skills.is_empty() && !phase.skills.iter().any(|it| is_due(state, it))
}

/// Whether a phase has another skill to call after this one.
pub(crate) fn more_skills_than(phase: &Phase, state: &State, skill: &str) -> bool {
    phase.skills.iter().any(|it| it != skill && is_due(state, it))
}

fn is_due(state: &State, skill: &String) -> bool {
    !state.visit.skills_done.contains(skill) && !state.skipped.contains_key(skill)
}

/// Whether only skills of a phase report this that a person skipped.
pub(crate) fn is_waived(workflow: &Workflow, phase: &Phase, state: &State, name: &str) -> bool {
    let brings =
        |it: &&String| workflow.skills.get(*it).is_some_and(|it| it.reports.iter().any(|it| it == name));
    let mut by = phase.skills.iter().filter(brings).peekable();
    by.peek().is_some() && by.all(|it| state.skipped.contains_key(it))
}

/// What a phase has to leave behind: whoever has its role writes it, so it does not apply where that skill was skipped.
pub(crate) fn of_phase<'a>(phase: &'a Phase, state: &State) -> &'a [String] {
    let is_skipped = phase.skills.contains(&phase.role) && state.skipped.contains_key(&phase.role);
    if is_skipped { &[] } else { &phase.deliverables }
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

/// The phase that this one is to differ from, with the model that answered there.
fn other_model(workflow: &Workflow, phase: &Phase, state: &State) -> Option<OtherModel> {
    let Some(Model::Differing { other_than, .. }) = &phase.model else { return None };
    let model = state.models.get(other_than).cloned();
    Some(OtherModel { phase: workflow.phases[*other_than].name.clone(), model })
}

/// Says where a phase that has to ask another model than an earlier one would not, or where nobody knows. What
/// a person has confirmed is not asked again.
pub(crate) fn lacks_other_model(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    call: &Call,
) -> Option<String> {
    let Some(Model::Differing { of, other_than, required: true, .. }) = &phase.model else { return None };
    if state.models_confirmed.contains(&state.phase) {
        return None;
    }
    let (name, other, cli) = (&phase.name, &workflow.phases[*other_than].name, &workflow.agent.cli);
    let so = match (state.models.get(other_than), &call.model) {
        (None, _) => format!("the model that {other} ran with is unknown"),
        (Some(was), None) if of.iter().any(|it| is_known(workflow, it)) => {
            format!("{other} ran with {was}, and {} are of the same family", of.join(", "))
        }
        (Some(was), None) => format!("{other} ran with {was}, and no model that {cli} knows is set here"),
        (Some(was), Some(asked)) if is_same_family(asked, was) => {
            format!("{other} ran with {was}, and so would {name}")
        }
        (Some(_), Some(_)) => return None,
    };
    Some(format!("{name} must use another model than {other}: {so}; choose one: loop answer model NAME"))
}

/// A person may have named another model in place of one that the agent does not know.
fn instead(state: &State, model: Option<String>) -> Option<String> {
    let mut asked = model;
    // A name that was given in place of another may have got one in its own place; each counts once.
    for _ in 0..state.models_instead.len() {
        match state.models_instead.get(asked.as_deref().unwrap_or_default()) {
            Some(named) => asked = Some(named.clone()),
            None => break,
        }
    }
    asked
}

/// Returns the model that each phase asks, by its role; nothing where the agent's own default does the work.
pub fn models(workflow: &Workflow, state: &State) -> Vec<(String, Option<String>)> {
    let asked = |phase: &Phase| instead(state, model(workflow, phase, state, &Step::Main));
    workflow.phases.iter().map(|it| (it.role.clone(), asked(it))).collect()
}

fn model(workflow: &Workflow, phase: &Phase, state: &State, step: &Step) -> Option<String> {
    let role = match step {
        Step::Main => &phase.role,
        Step::Skill(skill) | Step::Fix(skill) => skill,
    };
    let models = &workflow.models;
    let profile = models.profile.as_ref().and_then(|it| models.profiles.get(it));
    let by_role = models.roles.get(role).or_else(|| profile.and_then(|it| it.get(role)));
    let usual = || workflow.agent.model.clone();
    match &phase.model {
        Some(Model::Named(name)) => Some(name.clone()).filter(|it| is_known(workflow, it)).or_else(usual),
        Some(Model::Differing { of, other_than, unknown, .. }) => {
            let of: Vec<&String> = of.iter().filter(|it| is_known(workflow, it)).collect();
            if of.is_empty() {
                return usual();
            }
            // A phase whose model nobody knows is taken to have run with the usual one.
            let other = state.models.get(other_than).or(workflow.agent.model.as_ref()).unwrap_or(unknown);
            if of.iter().any(|it| is_same_family(it, other)) {
                of.into_iter().find(|it| !is_same_family(it, other)).cloned()
            } else if is_known(workflow, unknown) {
                Some(unknown.clone())
            } else {
                of.first().copied().cloned()
            }
        }
        None => by_role.filter(|it| is_known(workflow, it)).cloned().or_else(usual),
    }
}

/// Whether a model's name means something to the agent: those of presets do not for every one.
fn is_known(workflow: &Workflow, model: &str) -> bool {
    let row = workflow.agent.cli.row();
    row.is_none_or(|it| it.knows_preset_models) || !workflow.models.presets.contains(model)
}

/// Returns a sentence for each phase that should ask another model than an earlier one, where no
/// model is set that this agent knows.
pub fn alike(workflow: &Workflow) -> Vec<String> {
    let phases = workflow.phases.iter().filter_map(|phase| match &phase.model {
        Some(Model::Differing { of, other_than, .. }) if !of.iter().any(|it| is_known(workflow, it)) => {
            let (name, other) = (&phase.name, &workflow.phases[*other_than].name);
            let cli = &workflow.agent.cli;
            Some(format!(
                "{name} should use another model than {other}, but none is set for {cli}, so it uses the same one; \
                 write model = {{ of = [\"MODEL\", \"MODEL\"], other_than = \"{other}\" }} in its [[phase]]"
            ))
        }
        Some(Model::Named(_) | Model::Differing { .. }) | None => None,
    });
    phases.collect()
}

/// What stands in the flags and settings by which agents are allowed something.
const ALLOWING: [&str; 7] = ["allow", "approv", "bypass", "danger", "permission", "sandbox", "yolo"];

/// Returns a sentence for each phase that cannot be left because the agent may not commit.
pub fn uncommittable(workflow: &Workflow) -> Vec<String> {
    // The user's own words to the agent may allow what the permissions do not.
    let allows = |arg: &String| ALLOWING.iter().any(|it| arg.contains(it));
    if workflow.agent.permissions != Permissions::Edit || workflow.agent.args.iter().any(allows) {
        return Vec::new();
    }
    let row = workflow.agent.cli.row();
    if row.is_none_or(AgentRow::is_any_program) {
        return Vec::new();
    }
    let needs_commit =
        |it: &&Phase| it.asks_for(FactName::TreeClean.name()) || it.asks_for(FactName::CommitsMade.name());
    let phases = workflow.phases.iter().filter(needs_commit).map(|it| {
        format!(
            "{} is done when everything is committed, and with permissions = \"edit\" {} cannot commit: it cannot \
             finish; write permissions = \"all\" in [agent], or commit yourself",
            it.name, workflow.agent.cli
        )
    });
    phases.collect()
}

/// Checks are run after the last of a phase's calls; what the tree looks like is seen after each.
pub(crate) fn measure(workflow: &Workflow, phase: &Phase, state: &State, call: &Call) -> Effect {
    let skill_deliverables =
        |skill: &String| workflow.skills.get(skill).map(|it| it.deliverables.clone()).unwrap_or_default();
    match &call.step {
        Step::Fix(_) => Effect::Measure { checks: Vec::new(), deliverables: Vec::new() },
        Step::Skill(skill) if more_skills_than(phase, state, skill) => {
            Effect::Measure { checks: Vec::new(), deliverables: skill_deliverables(skill) }
        }
        Step::Skill(skill) => {
            let mut deliverables = skill_deliverables(skill);
            deliverables.extend_from_slice(of_phase(phase, state));
            deliverables.extend(delivered(workflow, state));
            Effect::Measure { checks: failed_first(phase, state), deliverables }
        }
        Step::Main => {
            let mut deliverables = of_phase(phase, state).to_vec();
            deliverables.extend(delivered(workflow, state));
            Effect::Measure { checks: failed_first(phase, state), deliverables }
        }
    }
}

/// Where the whole work is proven, what was delivered before has to be there still: a later call may have removed it.
fn delivered(workflow: &Workflow, state: &State) -> Vec<String> {
    if workflow.proof.at != Some(state.phase) {
        return Vec::new();
    }
    let was_done = |id: &usize| {
        let log = &state.phases[*id];
        log.status == PhaseStatus::Completed && 0 < log.iterations
    };
    let earlier = (0..state.phase).filter(was_done).map(|it| &workflow.phases[it]);
    let of_phases = earlier.clone().flat_map(|it| of_phase(it, state).to_vec());
    let called = earlier.flat_map(|it| &it.skills).chain(&state.visit.skills_done);
    let called = called.filter(|it| !state.skipped.contains_key(*it));
    let of_skills = called.filter_map(|it| workflow.skills.get(it)).flat_map(|it| it.deliverables.clone());
    of_phases.chain(of_skills).collect()
}

/// The checks of a phase; after a repair, those that it is for come first.
fn failed_first(phase: &Phase, state: &State) -> Vec<String> {
    let mut checks = phase.checks.clone();
    if 0 < state.retry.count {
        let failing = state.feedback.iter().flat_map(|it| &it.failing);
        let failed: Vec<&str> = failing.map(|it| it.name.as_str()).collect();
        checks.sort_by_key(|it| !failed.contains(&it.as_str()));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::{alike, call, lacks_other_model};
    use crate::engine::{Event, State};
    use crate::workflow::resolve::{LayerSource, Layers, Overrides, resolve};
    use loop_base::time::Timestamp;

    fn of_qa(agent: &str, model: Option<&str>, project: &str) -> (Option<String>, Vec<String>) {
        let overrides = Overrides {
            agent: Some(agent.to_owned()),
            model: model.map(str::to_owned),
            ..Overrides::default()
        };
        let text = format!("extends = \"tdd\"\n{project}");
        let source = LayerSource { name: "workflow.toml".to_owned(), text, dir: None };
        let layers = Layers { project: Some(source), overrides, ..Layers::default() };
        let workflow = resolve(&layers, &|_| Ok("work".to_owned())).expect("a workflow");
        let mut state = State::new(&workflow);
        state.phase = workflow.phases.iter().position(|it| it.name == "QA").expect("a phase");
        (call(&workflow, &workflow.phases[state.phase], &state).model, alike(&workflow))
    }

    /// The model that answered counts, by its family: full ids and aliases of one model are one.
    #[test]
    fn a_reviewer_is_of_another_family_than_the_model_that_answered() {
        let source = LayerSource {
            name: "workflow.toml".to_owned(),
            text: "extends = \"tdd\"\n".to_owned(),
            dir: None,
        };
        let overrides = Overrides { agent: Some("claude".to_owned()), ..Overrides::default() };
        let layers = Layers { project: Some(source), overrides, ..Layers::default() };
        let workflow = resolve(&layers, &|_| Ok("work".to_owned())).expect("a workflow");
        let mut state = State::new(&workflow);
        let position = |name: &str| workflow.phases.iter().position(|it| it.name == name).expect("a phase");
        state.phase = position("QA");
        for (answered, asked) in
            [("claude-opus-5-5", "sonnet"), ("anthropic/claude-sonnet-4-5-20250929", "opus")]
        {
            state.models.insert(position("GREEN"), answered.to_owned());
            let call = call(&workflow, &workflow.phases[state.phase], &state);
            assert_eq!(call.model.as_deref(), Some(asked), "after {answered}");
            let other = call.other_model.expect("QA differs from GREEN");
            assert_eq!((other.phase.as_str(), other.model.as_deref()), ("GREEN", Some(answered)));
        }
    }

    /// The preset tdd for claude, where QA must use another model than GREEN, out of these.
    fn requiring_one_of(models: &str) -> crate::workflow::model::Workflow {
        let text = format!(
            "extends = \"tdd\"\n[[phase]]\nname = \"QA\"\nmodel = {{ of = [{models}], other_than = \"GREEN\", required = true }}\n"
        );
        let source = LayerSource { name: "workflow.toml".to_owned(), text, dir: None };
        let overrides = Overrides { agent: Some("claude".to_owned()), ..Overrides::default() };
        let layers = Layers { project: Some(source), overrides, ..Layers::default() };
        resolve(&layers, &|_| Ok("work".to_owned())).expect("a workflow")
    }

    /// Where it is required, a person is asked: for an unknown model, for the same one, and not twice.
    #[test]
    fn a_required_other_model_is_asked_for() {
        let workflow = requiring_one_of("\"opus\", \"sonnet\"");
        let position = |name: &str| workflow.phases.iter().position(|it| it.name == name).expect("a phase");
        let mut state = State::new(&workflow);
        state.phase = position("QA");
        let asks = |state: &State| {
            let phase = &workflow.phases[state.phase];
            lacks_other_model(&workflow, phase, state, &call(&workflow, phase, state))
        };
        assert!(asks(&state).is_some_and(|it| it.contains("the model that GREEN ran with is unknown")));
        state.models.insert(position("GREEN"), "claude-opus-5-5".to_owned());
        assert_eq!(asks(&state), None, "sonnet is another");
        state.models_instead.insert("sonnet".to_owned(), "claude-opus-4-8".to_owned());
        assert!(
            asks(&state).is_some_and(|it| it.contains("GREEN ran with claude-opus-5-5, and so would QA"))
        );
        let named = Event::CalledAgain { model: Some("haiku".to_owned()) };
        state.apply(&workflow, Timestamp(1), &named);
        let next = call(&workflow, &workflow.phases[state.phase], &state);
        assert_eq!((asks(&state), next.model.as_deref()), (None, Some("haiku")));
        state.models_instead.clear();
        state.models.clear();
        assert_eq!(asks(&state), None, "confirmed once");
    }

    /// Candidates of one family are no choice, and that is what is said of them.
    #[test]
    fn candidates_of_the_same_family_are_named() {
        let workflow = requiring_one_of("\"opus\", \"claude-opus-4-8\"");
        let position = |name: &str| workflow.phases.iter().position(|it| it.name == name).expect("a phase");
        let mut state = State::new(&workflow);
        state.phase = position("QA");
        state.models.insert(position("GREEN"), "claude-opus-5-5".to_owned());
        let phase = &workflow.phases[state.phase];
        let why = lacks_other_model(&workflow, phase, &state, &call(&workflow, phase, &state));
        assert!(
            why.as_ref().is_some_and(|it| it.contains(
                "GREEN ran with claude-opus-5-5, and opus, claude-opus-4-8 are of the same family"
            )),
            "{why:?}"
        );
    }

    /// Model names in presets are Claude's; another agent gets only what the user set.
    #[test]
    fn models_of_presets_are_claudes() {
        assert_eq!(of_qa("claude", None, ""), (Some("opus".to_owned()), Vec::new()));
        let (model, says) = of_qa("codex", None, "");
        assert_eq!((model, says.len()), (None, 1));
        assert!(
            says[0].starts_with("QA should use another model than GREEN, but none is set for codex"),
            "{says:?}"
        );
        assert_eq!(of_qa("codex", Some("gpt-5"), "").0, Some("gpt-5".to_owned()));
        let own = "[[phase]]\nname = \"QA\"\nmodel = { of = [\"gpt-5\", \"o3\"], other_than = \"GREEN\" }\n";
        assert_eq!(of_qa("codex", Some("gpt-5"), own), (Some("o3".to_owned()), Vec::new()));
        let named = "[[phase]]\nname = \"QA\"\nmodel = \"sonnet\"\n";
        assert_eq!(of_qa("opencode", None, named).0, Some("sonnet".to_owned()), "the user's own word");
    }
}
