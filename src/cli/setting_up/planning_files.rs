//! What `loop setup plan` adds to `.planning/`: the `loop` section of `config.json`, with everything
//! else in it kept as it is, and `LEARNINGS.md`, which agents append to and people tidy up.

use super::new_files::NewFile;
use crate::desk::Refusal;
use crate::measure::detect::Found;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn files(project: &Path, found: &[Found]) -> anyhow::Result<Vec<NewFile>> {
    let commands: Vec<&str> = found.iter().map(|it| it.run.as_str()).collect();
    let mut files = Vec::new();
    files.extend(config(project, &commands)?);
    let learnings = PathBuf::from(".planning/LEARNINGS.md");
    if !project.join(&learnings).exists() {
        files.push(NewFile { path: learnings, text: learnings_text(&commands), replaces: false });
    }
    Ok(files)
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
            "mend it, then loop setup plan",
        )
    };
    let text = loop_base::files::text(&whole).map_err(|error| broken(format!("cannot be read: {error}")))?;
    let mut config: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| broken(format!("is not a JSON object: {error}")))?;
    let before = config.clone();
    let section = config.entry("loop").or_insert_with(|| json!({}));
    let Some(section) = section.as_object_mut() else {
        return Err(broken("has a \"loop\" that is not an object".to_owned()));
    };
    for (key, value) in wanted.as_object().into_iter().flatten() {
        let empty = section.get(key).is_none_or(|it| it.as_array().is_some_and(Vec::is_empty));
        if empty {
            section.insert(key.clone(), value.clone());
        }
    }
    if config == before {
        return Ok(None);
    }
    let text = appended(&text, &config, &before).unwrap_or_else(|| format!("{:#}\n", Value::Object(config)));
    Ok(Some(NewFile { path, text, replaces: true }))
}

/// Returns the text with the section at its end, so that nothing else of it moves; `None` where the
/// section has to go inside.
fn appended(text: &str, config: &Map<String, Value>, before: &Map<String, Value>) -> Option<String> {
    if before.contains_key("loop") {
        return None;
    }
    let (head, _) = text.rsplit_once('}')?;
    let section = format!("{:#}", config.get("loop")?).replace('\n', "\n  ");
    let comma = if before.is_empty() { "" } else { "," };
    let text = format!("{}{comma}\n  \"loop\": {section}\n}}\n", head.trim_end());
    let read: Option<Map<String, Value>> = serde_json::from_str(&text).ok();
    (read.as_ref() == Some(config)).then_some(text)
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
