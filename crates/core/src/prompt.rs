//! The text that is sent to an agent: a pure function of the workflow and the state, so that the
//! journal alone says what any call was asked.
//!
//! A template may place every part itself; what it leaves out and an agent cannot do without
//! (feedback, guidance, how to report) is appended. Logs were cut where they were read; nothing is
//! cut here.

use crate::engine::{Call, CheckOutcome, Feedback, Metric, Source, State, Step, more_skills_than, of_phase};
use crate::facts::FactName;
use crate::workflow::model::{ErrorClass, Model, Phase, Protocol, Signal, SignalWord, Workflow};
use loop_base::value::Value;
use minijinja::{Environment, context};
use std::fmt::Write;

/// Returns the prompt of a call. `context` are the documents that it brings along.
pub fn render(workflow: &Workflow, state: &State, call: &Call, context: &str) -> String {
    let phase = &workflow.phases[call.phase];
    let template = template(workflow, phase, call);
    let parts = Parts::new(workflow, phase, state, call);
    let mut text = fill(template, workflow, phase, state, call, &parts, context);
    for (name, part) in
        [("feedback", &parts.feedback), ("guidance", &parts.guidance), ("report", &parts.report)]
    {
        if !part.is_empty() && !mentions(template, name) {
            let _ = write!(text, "\n\n{part}");
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn template<'a>(workflow: &'a Workflow, phase: &'a Phase, call: &Call) -> &'a str {
    let skill = match &call.step {
        Step::Main => None,
        Step::Skill(skill) | Step::Fix(skill) => workflow.skills.get(skill),
    };
    skill.and_then(|it| it.prompt.as_deref()).unwrap_or(&phase.prompt)
}

fn mentions(template: &str, name: &str) -> bool {
    template.split("{{").skip(1).any(|it| it.trim_start().starts_with(name))
        || template.split("{%").skip(1).any(|it| it.split("%}").next().is_some_and(|it| it.contains(name)))
}

/// The parts that every prompt has, wherever they stand.
struct Parts {
    feedback: String,
    guidance: String,
    report: String,
}

impl Parts {
    fn new(workflow: &Workflow, phase: &Phase, state: &State, call: &Call) -> Parts {
        let mut feedback = state.feedback.as_ref().map(|it| feedback(workflow, it)).unwrap_or_default();
        feedback.push_str(&review(workflow, state, call));
        if state.visit.breaker.pivoted && !state.visit.breaker.pivot_spent {
            feedback.push_str(&tried(state));
        }
        Parts { feedback, guidance: guidance(state), report: how_to_report(phase, state, call) }
    }
}

fn fill(
    template: &str,
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    call: &Call,
    parts: &Parts,
    documents: &str,
) -> String {
    let (skill, skill_about) = match &call.step {
        Step::Main => (None, None),
        Step::Skill(skill) | Step::Fix(skill) => {
            (Some(skill.clone()), workflow.skills.get(skill).map(|it| it.about.clone()))
        }
    };
    let own_skill = skill.as_ref().and_then(|it: &String| workflow.skills.get(it));
    let attempt = 1 + state.rejections.get(&call.phase).copied().unwrap_or(0);
    let other_model = match &phase.model {
        Some(Model::Differing { other_than, .. }) => state.models.get(other_than),
        Some(Model::Named(_)) | None => None,
    };
    let values = context! {
        workflow => &workflow.name,
        run => state.opening.beginning.run.as_deref().unwrap_or("not known"),
        phase => &phase.name,
        goal => &phase.goal,
        role => &phase.role,
        iteration => call.iteration,
        run_iteration => state.iterations_numbered() + 1,
        // A run that has used them all is continued with a higher limit, which is not known yet.
        max => state.iterations_limit(workflow).filter(|most| state.iterations_counted < *most),
        input => state.opening.document(),
        input_title => &state.opening.beginning.title,
        promise => &state.opening.promise,
        criteria_count => state.opening.criteria,
        item => call.item.as_ref().map(|it| it.name.clone()),
        item_kind => call.item.as_ref().map(|it| it.kind.clone()),
        item_group => call.item.as_ref().map(|it| it.group.clone()),
        item_body => call.item.as_ref().map(|it| it.body.clone()),
        item_id => call.item.as_ref().map(|it| it.id.clone()),
        items_completed => state.items_done,
        items_remaining => state.items_left,
        skill_instructions => own_skill.and_then(|it| it.instructions.clone()),
        skill_references => own_skill.map(|it| it.references.clone()).unwrap_or_default(),
        target => skill.as_ref().and_then(|it| target(workflow, state, it)),
        retry => (0 < state.retry.count).then_some(state.retry.count),
        retries_most => workflow.retries.as_ref().map(|it| it.at_most),
        title => &state.opening.beginning.title,
        about => &state.opening.beginning.about,
        issue => state.opening.beginning.issue,
        interfaces => &state.opening.beginning.interfaces,
        domain => &state.opening.beginning.domain,
        skill,
        skill_about,
        model => &call.model,
        models => named_models(workflow, state),
        checks => checks(workflow, phase),
        context => documents,
        attempt,
        files => &state.seen.files,
        deliverables => deliverables(workflow, phase, state, call),
        other_model => other_model.cloned(),
        item_index => call.item.as_ref().map(|_| state.items_done + 1),
        items_total => call.item.as_ref().map(|_| state.items_done + state.items_left),
        metrics => metrics_yaml(state, false),
        claims => metrics_yaml(state, true),
        feedback => &parts.feedback,
        guidance => &parts.guidance,
        report => &parts.report,
        unverified => state.opening.unverified,
        session => state.session.is_some(),
    };
    let environment = Environment::new();
    // Templates are checked when a workflow is resolved. One that fails all the same is sent as it
    // is: the agent can make more of it than of nothing.
    environment
        .render_str(template, values)
        .unwrap_or_else(|error| format!("{template}\n\n(template: {error})"))
}

/// What a skill needs: as the workflow says it, else as a person did.
fn target(workflow: &Workflow, state: &State, skill: &str) -> Option<String> {
    let said = workflow.skills.get(skill).and_then(|it| it.target.clone());
    said.or_else(|| state.prerequisites.get(skill).cloned().flatten())
}

/// Returns the checks of a phase that have a command.
fn checks(workflow: &Workflow, phase: &Phase) -> Vec<minijinja::Value> {
    let command = |name: &String| workflow.checks.get(name)?.run.as_ref().map(|run| context! { name, run });
    phase.checks.iter().filter_map(command).collect()
}

/// Returns the files that the call has to write: those of its skill, and in the last call of a phase those of the phase.
fn deliverables(workflow: &Workflow, phase: &Phase, state: &State, call: &Call) -> Vec<String> {
    let own =
        |skill: &String| workflow.skills.get(skill).map(|it| it.deliverables.clone()).unwrap_or_default();
    match &call.step {
        Step::Main => of_phase(phase, state).to_vec(),
        Step::Skill(skill) if more_skills_than(phase, state, skill) => own(skill),
        Step::Skill(skill) | Step::Fix(skill) => {
            own(skill).into_iter().chain(of_phase(phase, state).iter().cloned()).collect()
        }
    }
}

fn named_models(workflow: &Workflow, state: &State) -> std::collections::BTreeMap<String, String> {
    state.models.iter().map(|(phase, model)| (workflow.phases[*phase].name.clone(), model.clone())).collect()
}

/// Returns what the last iteration came to: what the agent claimed, or what we know without it.
fn metrics_yaml(state: &State, claimed: bool) -> String {
    let mut out = String::new();
    let is_claim =
        |name: &str, metric: &Metric| metric.source == Source::Claimed || name == FactName::Signal.name();
    for (name, metric) in state.visit.metrics.iter().filter(|it| is_claim(it.0, it.1) == claimed) {
        let value = match &metric.value {
            Value::Text(text) => text.clone(),
            Value::Bool(_) | Value::Int(_) | Value::Number(_) => metric.value.to_string(),
        };
        let _ = writeln!(out, "{name}: {value}");
    }
    out
}

/// What a person said for the next call, and what was settled for all that follow.
fn guidance(state: &State) -> String {
    let sections = [("Guidance from a person", &state.guidance), ("Settled in this run", &state.settled)];
    let said: Vec<String> = sections
        .into_iter()
        .filter(|it| !it.1.is_empty())
        .map(|(title, lines)| {
            let lines: String = lines.iter().map(|it| format!("\n- {it}")).collect();
            format!("## {title}\n{lines}")
        })
        .collect();
    said.join("\n\n")
}

fn feedback(workflow: &Workflow, feedback: &Feedback) -> String {
    let phase = &workflow.phases[feedback.phase].name;
    let place = match workflow.phases[feedback.phase].is_numbered_by_run() {
        true => phase.clone(),
        false => format!("{phase}, iteration {}", feedback.iteration),
    };
    let mut out = format!("## Result of the last iteration ({place})\n");
    if let Some(trouble) =
        feedback.trouble.as_ref().filter(|it| !feedback.why.iter().any(|why| why.contains(*it)))
    {
        let _ = write!(out, "\nThe call failed: {trouble}.\n");
    }
    match feedback.rejected {
        // What a reviewer found stands below, in its own words.
        true if !feedback.blockers.is_empty() => {
            let _ = write!(out, "\n{phase} rejected the work.\n");
        }
        true => list(&mut out, &format!("{phase} rejected the work, because:"), &feedback.why),
        false => list(&mut out, "The phase is not done, because:", &feedback.why),
    }
    list(&mut out, "Noted:", &feedback.notes);
    if let Some(verdict) = &feedback.verdict {
        let _ = write!(out, "\nVerdict: {verdict}\n");
    }
    if let Some(summary) = &feedback.summary {
        let _ = write!(out, "\nSummary: {summary}\n");
    }
    list(&mut out, "Issues that were reported:", &feedback.blockers);
    for result in &feedback.failing {
        let CheckOutcome::Failed(why) = &result.outcome else { continue };
        let _ = write!(out, "\nThe check \"{}\" failed ({why}):\n", result.name);
        if !result.excerpt.is_empty() {
            let fence = fence(&result.excerpt);
            let _ = write!(out, "\n{fence}\n{}\n{fence}\n", result.excerpt.trim_end());
        }
    }
    if !feedback.tail.is_empty() {
        let title = match &feedback.verdict {
            Some(_) => "Its message ended:",
            None if feedback.contradicted => "Its report is wrong. Its message ended:",
            None => "The last message had no readable report. It ended:",
        };
        quote(&mut out, title, &feedback.tail);
    }
    out
}

/// What the phase that sent the work back had found, for whoever repairs it and for the phase itself,
/// which would not know its own findings otherwise: every call is a fresh session.
fn review(workflow: &Workflow, state: &State, call: &Call) -> String {
    let Some(review) = &state.review else { return String::new() };
    let phase = &workflow.phases[review.phase];
    let taken = state.rejections.get(&review.phase).copied().unwrap_or(0);
    let most = phase.reject.as_ref().map_or(0, |it| it.at_most);
    let name = &phase.name;
    let mut out = format!("\n## What {name} found\n\n{name} has rejected this work");
    let _ = match taken {
        0 => writeln!(out, ", and a person has said how to continue."),
        _ => writeln!(
            out,
            " {}; the {} rejection asks a person.",
            if taken == 1 { "once".to_owned() } else { format!("{taken} times") },
            nth(most + 1)
        ),
    };
    if call.phase == review.phase {
        let _ = writeln!(out, "These are your own findings: check first whether each of them is fixed.");
    }
    if state.feedback.as_ref() == Some(review) {
        return out;
    }
    if let Some(verdict) = &review.verdict {
        let _ = write!(out, "\nVerdict: {verdict}\n");
    }
    list(&mut out, "Issues that were reported:", &review.blockers);
    if !review.tail.is_empty() {
        quote(&mut out, "Its message ended:", &review.tail);
    }
    out
}

fn nth(number: u32) -> String {
    match number {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        more => format!("{more}th"),
    }
}

fn quote(out: &mut String, title: &str, text: &str) {
    let fence = fence(text);
    let _ = write!(out, "\n{title}\n\n{fence}\n{}\n{fence}\n", text.trim_end());
}

/// The call that is made in place of halting: what was tried did not help, so the same again will not.
fn tried(state: &State) -> String {
    let iterations = state.visit.iteration;
    let mut out = format!(
        "\n## Start over\n\n{iterations} iterations of this phase made no progress. Do not repeat what they did: question \
         the approach, find the assumption they share, and try another way. This is the last call before \
         a person is asked.\n"
    );
    let here = state.troubles.errors.iter().filter(|it| it.phase == state.phase);
    let mut errors: Vec<String> = here.map(|it| format!("iteration {}: {}", it.iteration, it.text)).collect();
    let dropped = errors.len().saturating_sub(ERRORS_SHOWN);
    errors.drain(..dropped);
    list(&mut out, "What went wrong:", &errors);
    out
}

/// Errors that a call which begins afresh is shown; more would hide what they have in common.
const ERRORS_SHOWN: usize = 10;

fn list(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(out, "\n{title}\n");
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}

/// A fence that the text itself does not close.
fn fence(text: &str) -> String {
    let longest = text.lines().map(|it| it.trim_start().chars().take_while(|it| *it == '`').count()).max();
    "`".repeat(longest.unwrap_or(0).max(2) + 1)
}

fn how_to_report(phase: &Phase, state: &State, call: &Call) -> String {
    let mut out = "## How to report\n\n".to_owned();
    match &phase.report {
        Protocol::None => return String::new(),
        Protocol::Frontmatter(pattern) => {
            let _ = write!(
                out,
                "Write the report to a file that matches `{pattern}`. Only a file that you write in this session \
                 counts."
            );
        }
        Protocol::Promise => {
            let promise = state.opening.promise.as_deref().unwrap_or("TASK_COMPLETE");
            let _ = write!(
                out,
                "Only when everything is done, end your last message with this line, alone and outside any code \
                 block:\n\n<promise>{promise}</promise>\n\nThe checks are run again after you. A promise that they \
                 do not confirm is noted, and you are asked again."
            );
        }
        Protocol::ExitSignal => {
            let words: Vec<&str> = match &phase.signal {
                Signal::Words(words) => words.iter().map(SignalWord::word).collect(),
                Signal::Own | Signal::None => vec![SignalWord::TaskComplete.word()],
            };
            let _ = write!(
                out,
                "End your last message with exactly one block like this, and write nothing after it:\n\n---\n\
                 EXIT_SIGNAL: {}\nITERATION: {}\nTASK: name of the task\nCOMMIT: short hash\n\
                 NEXT: what comes next\n---\n\nIts signal is one of {}. If you cannot continue, the first line \
                 is: EXIT_SIGNAL: STUCK: the reason",
                words.first().copied().unwrap_or_default(),
                state.iterations_numbered() + 1,
                words.join(", ")
            );
        }
        Protocol::Json => {
            let classes = ErrorClass::reported_words().collect::<Vec<_>>().join("|");
            let _ = write!(
                out,
                "End your last message with one fenced JSON object, every key optional, nothing after it:\n\n\
                 ```json\n{{\"status\": \"done|continue|failed|blocked\", \"summary\": \"…\", \"metrics\": {{}}, \
                 \"error\": {{\"class\": \"{classes}\", \
                 \"text\": \"…\"}}, \"deliverables\": []}}\n```\n\nOr write the object to the file named by \
                 LOOP_RESULT_FILE."
            );
        }
        Protocol::PrpStatus => {
            let _ = write!(
                out,
                "End your last message with this block, the markers alone on their lines:\n\n\
                 ---PRP_PHASE_STATUS---\nPHASE: {}\nSTATUS: IN_PROGRESS | BLOCKED | COMPLETE\nITERATION: {}\n\
                 BLOCKERS:\n  - none\nMETRICS:\n  name: value\nEXIT_SIGNAL: true | false\n\
                 RECOMMENDATION: one line\n---END_PRP_PHASE_STATUS---",
                phase.name, call.iteration
            );
        }
    }
    out
}
