//! The words of a story that say what must have come of it. Each compares one thing with the state,
//! and says what it found where that differs.

use super::words::{number, phase_id};
use loop_base::value::Value;
use loop_core::engine::{PhaseStatus, Source, State, Status};
use loop_core::workflow::model::Workflow;

pub(super) fn expect(workflow: &Workflow, state: &State, prompt: &str, what: &[&str]) -> Result<(), String> {
    if let Some((found, wanted, what)) = counted(workflow, state, what) {
        let wanted: usize = number(wanted)?;
        return unless(found == wanted, format!("{found} {what}"));
    }
    let status = Status::of(state);
    let here = &workflow.phases[state.phase].name;
    let reason = state.reason(workflow);
    match what {
        ["prompt", text] => {
            unless(prompt.contains(text), format!("the last prompt lacks \"{text}\":\n{prompt}"))
        }
        ["no", "prompt", text] => unless(!prompt.contains(text), format!("the last prompt has \"{text}\"")),
        ["exit", code] => {
            unless(status.exit() == number::<u8>(code)?, format!("it exits {} ({reason})", status.exit()))
        }
        ["item", name] => {
            let found = state.item.as_ref().map_or("none", |it| it.name.as_str());
            unless(found == *name, format!("the item is {found}"))
        }
        ["breaker", word] => {
            let found = format!("{:?}", state.visit.breaker.state(&workflow.phases[state.phase].breaker));
            let wanted = word.replace('-', "");
            unless(found.eq_ignore_ascii_case(&wanted), format!("the breaker is {found}"))
        }
        ["model", name] => {
            let found = state.models.get(&state.phase).cloned().unwrap_or_default();
            unless(found == *name, format!("the model was \"{found}\""))
        }
        ["metric", pair] => metric(state, pair, |it| Some(it.value.clone())),
        ["claimed", pair] => metric(state, pair, |it| it.claimed.clone()),
        ["source", name, source] => {
            let found = state.visit.metrics.get(*name).map(|it| source_word(it.source));
            unless(found == Some(source), format!("the source of {name} is {}", found.unwrap_or("unknown")))
        }
        ["verified"] => unless(state.verified(), "it is not verified".to_owned()),
        ["unverified"] => unless(!state.verified(), "it is verified".to_owned()),
        ["warning", text] => has(&state.warnings, text, "warnings"),
        ["note", text] => {
            has(&state.feedback.as_ref().map(|it| it.notes.clone()).unwrap_or_default(), text, "notes")
        }
        ["why", text] => {
            has(&state.feedback.as_ref().map(|it| it.why.clone()).unwrap_or_default(), text, "reasons")
        }
        ["phase", name, word] => phase(workflow, state, name, word),
        ["phase", name, word, "iterations", count] => {
            phase(workflow, state, name, word)?;
            let found = state.phases[phase_id(workflow, name)?].iterations;
            unless(found == number::<u32>(count)?, format!("{found} iterations are in its log"))
        }
        ["reason", name, text] => {
            let found = state.phases[phase_id(workflow, name)?].exit_reason.clone().unwrap_or_default();
            unless(found.contains(text), format!("{name} was left because: {found}"))
        }
        [name, "iteration", count] => unless(
            here.eq_ignore_ascii_case(name) && state.visit.iteration == number::<u32>(count)?,
            format!("it is {here}, {} iterations judged", state.visit.iteration),
        ),
        [word] => unless(
            status.word() == *word || here.eq_ignore_ascii_case(word),
            format!("it is {} in {here} ({reason})", status.word()),
        ),
        [word, text] => unless(
            status.word() == *word && reason.contains(text),
            format!("it is {} in {here} ({reason})", status.word()),
        ),
        other => Err(format!("nothing to expect is called: {}", other.join(" "))),
    }
}

/// What is expected as a number: how many there are, how many are wanted, and of what.
fn counted<'a>(
    workflow: &Workflow,
    state: &State,
    what: &[&'a str],
) -> Option<(usize, &'a str, &'static str)> {
    Some(match what {
        ["calls", count] => (state.calls_total as usize, count, "calls were made"),
        ["iterations", count] => (state.iterations_total as usize, count, "iterations were judged"),
        ["failures", count] => (state.retry.total as usize, count, "failures were counted"),
        ["retries", count] => (state.retry.count as usize, count, "retries were used"),
        ["errors", count] => (state.troubles.errors.len(), count, "errors are kept"),
        ["resolved", count] => {
            let resolved = state.troubles.failures.iter().filter(|it| it.resolution.is_some());
            (resolved.count(), count, "failures are resolved")
        }
        ["items", "done", count] => (state.items_done as usize, count, "items are done"),
        ["percent", count] => (state.progress_percent(workflow) as usize, count, "percent"),
        _ => return None,
    })
}

fn unless(holds: bool, found: String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(found) }
}

fn has(list: &[String], text: &str, what: &str) -> Result<(), String> {
    unless(list.iter().any(|it| it.contains(text)), format!("the {what} are {list:?}"))
}

fn source_word(source: Source) -> &'static str {
    match source {
        Source::Measured => "measured",
        Source::Engine => "engine",
        Source::Claimed => "claimed",
    }
}

fn metric(
    state: &State,
    pair: &str,
    part: impl Fn(&loop_core::engine::Metric) -> Option<Value>,
) -> Result<(), String> {
    let (name, value) = pair.split_once('=').ok_or("a metric is written name=value")?;
    let found =
        state.visit.metrics.get(name).and_then(part).map_or("unknown".to_owned(), |it| it.to_string());
    let wanted = if value == "unknown" { value.to_owned() } else { Value::read(value).to_string() };
    if found == wanted { Ok(()) } else { Err(format!("{name} is {found}")) }
}

fn phase(workflow: &Workflow, state: &State, name: &str, word: &str) -> Result<(), String> {
    let log = &state.phases[phase_id(workflow, name)?];
    let found = match log.status {
        PhaseStatus::Pending => "pending",
        PhaseStatus::Active => "active",
        PhaseStatus::Completed => "completed",
        PhaseStatus::Skipped => "skipped",
        PhaseStatus::Forced => "forced",
    };
    if found == word { Ok(()) } else { Err(format!("{name} is {found}")) }
}
