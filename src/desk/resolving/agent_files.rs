//! Agents that the user describes: `agents/NAME.toml` beside the user's own configuration file. They are
//! read when a command begins. What lies in a project is not read: an agent that works there could change
//! how the next call is started.

use loop_core::agent_table::AgentTable;
use std::path::Path;

/// Returns all agents, with those that the user describes, and what is wrong with the files that are left out.
pub(crate) fn read(config: Option<&Path>) -> (AgentTable, Vec<String>) {
    let (mut table, mut mistakes) = (AgentTable::default(), Vec::new());
    let Some(folder) = config.and_then(Path::parent).map(|it| it.join("agents")) else {
        return (table, mistakes);
    };
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "toml"));
    files.sort();
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = loop_base::files::text(file).map_err(|it| it.to_string());
        if let Err(why) = text.and_then(|it| table.describe(&name, &it)) {
            mistakes.push(format!("{} is left out: {why}", file.display()));
        }
    }
    (table, mistakes)
}
