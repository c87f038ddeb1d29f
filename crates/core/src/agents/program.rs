//! Finds the program of an agent. Some come from npm behind a script that starts the real program:
//! killing the script leaves the program running, so the program is started itself where it is there.

use super::{Cli, Context};
use std::path::{Path, PathBuf};

/// Returns the program to start, or how to get it.
pub(super) fn find(cli: Cli, context: &Context<'_>) -> Result<String, String> {
    let name = cli.name();
    let Some(found) = (context.find)(name) else {
        return Err(format!("no program \"{name}\" in PATH; {}", install(cli)));
    };
    let real = natives(cli, &found).iter().find_map(|it| (context.find)(it.to_str()?)).unwrap_or(found);
    real.into_os_string().into_string().map_err(|it| format!("{} has a name that is no text", it.display()))
}

/// Returns where the real program may lie, given the real path of what `PATH` names: beside the
/// package, or nested in it, for each platform it is made for.
fn natives(cli: Cli, wrapper: &Path) -> Vec<PathBuf> {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let inner: Vec<String> = match cli {
        // Its installer puts the real program over the stub, unless install scripts are forbidden.
        Cli::Claude => vec![
            format!("@anthropic-ai/claude-code-{system}-{arch}/claude"),
            format!("@anthropic-ai/claude-code-{system}-{arch}-musl/claude"),
        ],
        Cli::Codex => {
            let cpu = if arch == "arm64" { "aarch64" } else { "x86_64" };
            let target = if system == "darwin" { "apple-darwin" } else { "unknown-linux-musl" };
            vec![format!("@openai/codex-{system}-{arch}/vendor/{cpu}-{target}/bin/codex")]
        }
        // One is a script through and through; the other's installer chooses among programs for
        // older and newer processors.
        Cli::Gemini | Cli::Opencode | Cli::Command => return Vec::new(),
    };
    // node_modules/@scope/package/bin/script
    let (Some(package), Some(modules)) = (wrapper.ancestors().nth(2), wrapper.ancestors().nth(4)) else {
        return Vec::new();
    };
    let folders = [modules.to_owned(), package.join("node_modules")];
    inner.iter().flat_map(|inner| folders.iter().map(move |folder| folder.join(inner))).collect()
}

/// Returns how to get the program.
pub fn install(cli: Cli) -> &'static str {
    match cli {
        Cli::Claude => "install it with: npm install -g @anthropic-ai/claude-code",
        Cli::Codex => "install it with: npm install -g @openai/codex",
        Cli::Gemini => "install it with: npm install -g @google/gemini-cli",
        Cli::Opencode => "install it with: npm install -g opencode-ai",
        Cli::Command => "give it with --agent-cmd \"PROGRAM ARGS\"",
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, natives};
    use std::path::Path;

    #[test]
    fn the_real_program_is_looked_for_beside_and_inside_the_package() {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return;
        }
        let modules = "/usr/lib/node_modules";
        let inner = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
        assert_eq!(
            natives(Cli::Codex, Path::new("/usr/lib/node_modules/@openai/codex/bin/codex.js")),
            [
                Path::new(&format!("{modules}/{inner}")),
                Path::new(&format!("{modules}/@openai/codex/node_modules/{inner}"))
            ]
        );
        assert_eq!(
            natives(Cli::Claude, Path::new("/x/node_modules/@anthropic-ai/claude-code/bin/claude.exe"))[0],
            Path::new("/x/node_modules/@anthropic-ai/claude-code-linux-x64/claude")
        );
        assert_eq!(natives(Cli::Codex, Path::new("/bin/codex")), Vec::<&Path>::new());
    }
}
