//! Agents that the user describes: `agents/NAME.toml` beside the user's own configuration file. They are
//! read when a command begins. What lies in a project is not read: an agent that works there could change
//! how the next call is started.

use loop_core::agent_table::AgentRow;
use std::path::Path;

/// Makes the described agents known, and returns what is wrong with those that cannot be.
pub(crate) fn add(config: Option<&Path>) -> Vec<String> {
    let Some(folder) = config.and_then(Path::parent).map(|it| it.join("agents")) else { return Vec::new() };
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "toml"));
    files.sort();
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = loop_base::files::text(file).map_err(|it| it.to_string());
        match text.and_then(|it| AgentRow::described(&name, &it)) {
            Ok(row) => rows.push(row),
            Err(why) => mistakes.push(format!("{} is left out: {why}", file.display())),
        }
    }
    AgentRow::add(rows);
    mistakes
}
