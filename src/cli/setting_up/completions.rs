//! `loop completions SHELL`: the script that completes our words in a shell.

use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;

#[derive(Args)]
pub(crate) struct CompletionsFlags {
    /// The shell
    shell: Shell,
}

/// `command` is the whole command line.
pub(crate) fn run(mut command: Command, flags: &CompletionsFlags) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut command, "loop", &mut script);
    // Whoever reads may have seen enough.
    let _is_read = std::io::stdout().write_all(&script);
    Ok(0)
}
