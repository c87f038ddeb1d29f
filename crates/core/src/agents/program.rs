//! Finds the program of an agent. Some come from npm behind a script that starts the real program:
//! killing the script leaves the program running, so the program is started itself where it is there.

use super::InvocationContext;
use crate::agent_table::AgentRow;
use std::path::{Path, PathBuf};

/// Returns the program to start, or how to get it.
pub(super) fn find(row: &AgentRow, context: &InvocationContext<'_>) -> Result<String, String> {
    let name = row.program;
    let Some(found) = (context.find)(name) else {
        return Err(format!("no program \"{name}\" in PATH; {}", row.install));
    };
    let real = natives(row, &found).iter().find_map(|it| (context.find)(it.to_str()?)).unwrap_or(found);
    real.into_os_string().into_string().map_err(|it| format!("{} has a name that is not UTF-8", it.display()))
}

/// Returns where the real program may lie, given the real path of what `PATH` names: beside the
/// package, or nested in it, for each platform it is made for.
fn natives(row: &AgentRow, wrapper: &Path) -> Vec<PathBuf> {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let cpu = if cfg!(target_arch = "aarch64") { "aarch64" } else { "x86_64" };
    let target = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    let here = [("{system}", system), ("{arch}", arch), ("{cpu}", cpu), ("{target}", target)];
    let filled =
        |path: &&str| here.iter().fold((*path).to_owned(), |path, (name, it)| path.replace(name, it));
    let inner: Vec<String> = row.natives.iter().map(filled).collect();
    // node_modules/@scope/package/bin/script
    let (Some(package), Some(modules)) = (wrapper.ancestors().nth(2), wrapper.ancestors().nth(4)) else {
        return Vec::new();
    };
    let folders = [modules.to_owned(), package.join("node_modules")];
    inner.iter().flat_map(|inner| folders.iter().map(move |folder| folder.join(inner))).collect()
}

#[cfg(test)]
mod tests {
    use super::{AgentRow, natives};
    use crate::agent_table::AgentTable;
    use std::path::Path;

    fn row(name: &str) -> &'static AgentRow {
        AgentTable::default().named(name).expect("known")
    }

    #[test]
    fn the_real_program_is_looked_for_beside_and_inside_the_package() {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return;
        }
        let modules = "/usr/lib/node_modules";
        let inner = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
        assert_eq!(
            natives(row("codex"), Path::new("/usr/lib/node_modules/@openai/codex/bin/codex.js")),
            [
                Path::new(&format!("{modules}/{inner}")),
                Path::new(&format!("{modules}/@openai/codex/node_modules/{inner}"))
            ]
        );
        assert_eq!(
            natives(row("claude"), Path::new("/x/node_modules/@anthropic-ai/claude-code/bin/claude.exe"))[0],
            Path::new("/x/node_modules/@anthropic-ai/claude-code-linux-x64/claude")
        );
        assert_eq!(natives(row("codex"), Path::new("/bin/codex")), Vec::<&Path>::new());
    }
}
