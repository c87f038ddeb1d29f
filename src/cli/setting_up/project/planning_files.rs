//! What `loop setup plan` adds to `.planning/`: the `loop` section of `config.json`, with everything
//! else in it kept as it is, and `LEARNINGS.md`, which agents append to and people tidy up.

use super::new_files::NewFile;
use crate::cli::hint;
use crate::desk::{NextStep, Refusal};
use crate::measure::detect::DetectedCheck;
use crate::measure::planning;
use loop_base::json_text;
use loop_core::documents::planning::{learnings, roadmap, state_file};
use loop_core::workflow::preset::BuiltIn;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn files(project: &Path, found: &[DetectedCheck]) -> anyhow::Result<Vec<NewFile>> {
    let commands: Vec<&str> = found.iter().map(|it| it.run.as_str()).collect();
    let learnings = PathBuf::from(".planning/LEARNINGS.md");
    let learned = loop_base::files::text(&project.join(&learnings)).unwrap_or_default();
    // The commands that a person wrote down there count as long as the list here is empty.
    let own = if learnings::validation(&learned).is_empty() { commands.as_slice() } else { &[] };
    let mut files = Vec::new();
    files.extend(config(project, own)?);
    if !project.join(&learnings).exists() {
        files.push(NewFile { path: learnings, text: learnings_text(&commands), replaces: false });
    }
    Ok(files)
}

/// Whether the project's workflow is this one already.
pub(crate) fn is_set_up(project: &Path) -> bool {
    let text = loop_base::files::text(&project.join(".loop/workflow.toml")).unwrap_or_default();
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table.get("extends").and_then(toml::Value::as_str) == Some(BuiltIn::Plan.name())
}

/// Says how the first run begins: with the phase of the position, else the first one of the roadmap.
pub(crate) fn first_run(project: &Path) -> String {
    let roadmap = planning::document(project, ".planning/ROADMAP.md");
    let state = planning::document(project, ".planning/STATE.md");
    let phases = roadmap.as_deref().map(roadmap::phases).unwrap_or_default();
    let first = state.as_deref().and_then(state_file::current_phase).filter(|_| roadmap.is_some());
    let Some(number) = first.or_else(|| phases.first().map(|it| it.number.clone())) else {
        let heading = "write .planning/ROADMAP.md with a heading \"### Phase 1: NAME\"";
        return format!("help: {heading} and its plans, then loop run 1");
    };
    let has_plans =
        planning::phase_folders(project, &number).iter().any(|it| planning::has_plans(project, it));
    if has_plans {
        return hint::next(&format!("loop run {number}"));
    }
    let padded = number.padded();
    let plan = format!(".planning/phases/{padded}-NAME/{padded}-01-PLAN.md");
    format!("help: write {plan} with its tasks, then loop run {number}")
}

/// Returns the configuration with a `loop` section, or nothing where it has all of it.
fn config(project: &Path, commands: &[&str]) -> anyhow::Result<Option<NewFile>> {
    let path = PathBuf::from(".planning/config.json");
    let whole = project.join(&path);
    let wanted = json!({
        "enabled": true, "max_iterations": 50, "stuck_threshold": 3, "parallel_waves": false,
        "validation_commands": commands,
    });
    if !whole.exists() {
        let text = format!("{:#}\n", json!({ "loop": wanted }));
        return Ok(Some(NewFile { path, text, replaces: false }));
    }
    let broken = |why: String| {
        Refusal::usage(
            format!(".planning/config.json {why}; it was not changed"),
            NextStep::by_hand("repair it, then loop setup plan"),
        )
    };
    let text = loop_base::files::text(&whole).map_err(|error| broken(format!("cannot be read: {error}")))?;
    let text = added(&text, &wanted).map_err(broken)?;
    Ok(text.map(|text| NewFile { path, text, replaces: true }))
}

/// Returns the text with the keys that its `loop` section lacks, and with every other byte as it was;
/// nothing where none is missing.
fn added(text: &str, wanted: &Value) -> Result<Option<String>, String> {
    let read = |text: &str| {
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        serde_json::from_str::<Map<String, Value>>(bare).map_err(|it| format!("is not a JSON object: {it}"))
    };
    let before = read(text)?;
    let start = text.find('{').ok_or("is not a JSON object")?;
    let Some(there) = before.get("loop") else {
        let text = json_text::append(text, start, &format!("\"loop\": {wanted:#}"), 1);
        return checked(text, &before, wanted.clone(), read);
    };
    let there = there.as_object().ok_or("has a \"loop\" that is not an object")?;
    let missing: Map<String, Value> = wanted
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !there.contains_key(*key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let at = json_text::member(text, start, "loop").ok_or("cannot be edited safely")?;
    let lines: Vec<String> = missing.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    let text = json_text::append(text, at.start, &lines.join(",\n"), 2);
    let mut section = there.clone();
    section.extend(missing);
    checked(text, &before, Value::Object(section), read)
}

/// The text, provided that it means what was there before and this section.
fn checked(
    text: String,
    before: &Map<String, Value>,
    section: Value,
    read: impl Fn(&str) -> Result<Map<String, Value>, String>,
) -> Result<Option<String>, String> {
    let mut meant = before.clone();
    meant.insert("loop".to_owned(), section);
    match read(&text) {
        Ok(found) if found == meant => Ok(Some(text)),
        Ok(_) | Err(_) => Err("cannot be edited safely".to_owned()),
    }
}

fn learnings_text(commands: &[&str]) -> String {
    let primary = if commands.is_empty() {
        "# none was found; write one command a line".to_owned()
    } else {
        commands.join("\n")
    };
    format!(
        "# Learnings\n\nAgents append what the next session must know; people merge and tidy. Keep it below 150 lines.\n\n\
         ## Validation Commands\n\nPrimary, all of them must pass:\n\n```sh\n{primary}\n```\n\n\
         Secondary, run after those:\n\n```sh\n```\n\n\
         ## Patterns\n\n### Code\n\n### Tests\n\n### Names and places\n\n### Tools\n\n\
         ## Constraints\n\n### Do not\n\n### Do\n\n\
         ## Session Decisions\n\n| ID | Decision | Choice | Reason | Iteration |\n|---|---|---|---|---|\n\n\
         ## Discovered Issues\n\n| Date | Issue | Resolution | Blocker? | Iteration |\n|---|---|---|---|---|\n"
    )
}
