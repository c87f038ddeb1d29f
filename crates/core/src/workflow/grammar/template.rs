//! Prompts as templates: whether one can be filled, and with what. The names are kept here, next to the
//! sentence that the reference prints for each; `prompt.rs` supplies their values. A name that nothing
//! supplies would be filled with nothing, silently, in every call, so it is a mistake.

use super::problem::{Place, Sources, suggest};

/// What a prompt may name, and what it stands for.
pub(crate) const NAMES: [(&str, &str); 48] = [
    ("about", "What the queue says about a system."),
    ("attempt", "1, and one more each time that this phase has sent the work back."),
    ("checks", "The checks of the phase that have a command: `name` and `run` of each."),
    ("claims", "What the agent claimed in the last iteration, one line `name: value` each."),
    ("context", "The documents that the phase's `context` names, within their budget."),
    ("criteria_count", "How many success criteria the input lists."),
    ("deliverables", "The files that the phase and its skill must leave behind."),
    ("domain", "The domain of a system."),
    ("feedback", "The result of the last iteration; appended if the prompt does not place it."),
    ("files", "Files that were changed since the run began."),
    ("goal", "The goal of the phase."),
    ("guidance", "What a person said; appended where a prompt does not place it."),
    ("input", "What the run works on: a path, an id or a sentence."),
    ("input_title", "What people call it, where it has a name: `Phase 3: Accounts`."),
    ("interfaces", "Interfaces that were changed by the systems which this one depends on."),
    ("issue", "The number of its issue."),
    ("item", "The name of the item that is being worked on."),
    ("item_body", "Where its text is: a path, if the list names one."),
    ("item_group", "The group that it belongs to, if the list names one."),
    ("item_id", "Its id."),
    ("item_index", "Its number, from 1."),
    ("item_kind", "Its kind, if the list names one."),
    ("items_completed", "How many items are done."),
    ("items_remaining", "How many remain."),
    ("items_total", "How many there are."),
    ("iteration", "The number of the iteration in this visit to the phase, from 1."),
    ("max", "The limit on the iterations of the run."),
    ("metrics", "What was measured in the last iteration, one line `name: value` each."),
    ("model", "The model that is asked for."),
    ("models", "The model that each phase ran with last."),
    ("other_model", "The model that this phase's model has to differ from."),
    ("phase", "The name of the phase."),
    ("promise", "The promise that the agent has to make."),
    ("report", "How to report; appended where a prompt does not place it."),
    ("retries_most", "How often a failure is tried again."),
    ("retry", "The number of this try to repair a failure, from 1."),
    ("role", "The role of the phase."),
    ("run", "The id of the run."),
    (
        "run_iteration",
        "The number of the iteration in the run, from 1, without those of phases that are not counted.",
    ),
    ("session", "True in the agent's own session, whose stop hook calls loop."),
    ("skill", "The skill that the call is for."),
    ("skill_about", "What that skill is for."),
    ("skill_instructions", "The project's own instructions for that skill."),
    ("skill_references", "Documents that belong to them."),
    ("target", "What the skill needs, as the workflow or a person says it."),
    ("title", "What people call the input."),
    ("unverified", "True with `--unverified`."),
    ("workflow", "The name of the workflow."),
];

/// Functions that templates bring along.
const FUNCTIONS: [&str; 4] = ["debug", "dict", "namespace", "range"];

/// Reports what is wrong with a prompt that stands at `place`, or in a file that is named there.
pub(crate) fn check(text: &str, place: &Place, sources: &mut Sources) {
    if text.trim().is_empty() {
        sources.refuse(place, "the prompt is empty");
    }
    let environment = minijinja::Environment::new();
    let template = match environment.template_from_str(text) {
        Ok(template) => template,
        Err(error) => {
            let line = error.line().map(|it| format!("line {it} of ")).unwrap_or_default();
            let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            sources.refuse(place, format!("{line}the prompt is not a template: {detail}"));
            return;
        }
    };
    let mut unknown: Vec<String> = template.undeclared_variables(false).into_iter().collect();
    unknown.retain(|it| !FUNCTIONS.contains(&it.as_str()) && !NAMES.iter().any(|known| known.0 == it));
    unknown.sort();
    for name in unknown {
        let (line, at) = find(text, &name).unwrap_or((1, 0..0));
        let place = if at.is_empty() { place.clone() } else { sources.inside(place, text, &at) };
        let says = format!("line {line} of the prompt: nothing supplies \"{name}\"");
        sources.report(Some(&place), says, suggest(&name, NAMES.map(|it| it.0)));
    }
}

/// Returns the line and the place of a name inside the first tag that has it.
fn find(text: &str, name: &str) -> Option<(usize, std::ops::Range<usize>)> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    for (start, _) in text.match_indices(name) {
        let end = start + name.len();
        let open = text[..start].rfind("{{").max(text[..start].rfind("{%"));
        let close = text[..start].rfind("}}").max(text[..start].rfind("%}"));
        let alone = !text[..start].ends_with(is_part) && !text[end..].starts_with(is_part);
        if alone && open.is_some() && close < open {
            return Some((text[..start].matches('\n').count() + 1, start..end));
        }
    }
    None
}
