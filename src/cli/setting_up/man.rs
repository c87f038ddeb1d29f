//! `loop man DIR`: the manual pages, one for the program and one for each command, made from the same
//! words as `--help`.

use crate::cli::Context;
use clap::{Args, Command};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct ManFlags {
    /// The directory; created if missing
    #[arg(value_name = "DIR")]
    into: PathBuf,
}

/// `command` is the whole command line.
pub(crate) fn run(context: &Context, mut command: Command, flags: &ManFlags) -> anyhow::Result<u8> {
    let folder = context.caller.dir.join(&flags.into);
    let failed = |path: &Path, error| anyhow::anyhow!("{} cannot be written: {error}", path.display());
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    command.build();
    let mut pages = vec![(command.clone(), "loop".to_owned())];
    for below in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        let name = format!("loop-{}", below.get_name());
        pages.push((below.clone(), name));
    }
    for (command, name) in pages {
        let path = folder.join(format!("{name}.1"));
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
        println!("{}", path.display());
    }
    Ok(0)
}
