//! `loop`: an autonomous loop controller for coding agents. Reading order is dependency order; a
//! module uses only what stands above it.

mod secret;
mod text;
mod time;
mod value;

mod workflow;

mod report;

mod engine;

mod prove;

mod input;

mod design;

mod line;
mod prompt;
mod ship;

mod agent;

mod steady;

mod store;

mod drive;

mod host;

mod hook;

mod sim;

mod cli;

#[cfg(test)]
mod fuzz;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, word, run_dir, epoch] = &arguments[..]
        && word == "__shim"
        && let Some(Ok(epoch)) = epoch.to_str().map(str::parse)
    {
        let launcher = host::program::Launcher::new();
        host::private::keep_to_ourselves();
        return host::shim::serve(Path::new(run_dir), epoch, launcher);
    }
    // Its own files in `/proc` have to be its own, so it comes before the next line.
    if let [_, word, mounts, command @ ..] = &arguments[..]
        && word == host::proof::MOUNT_WORD
    {
        return host::proof::become_command(Path::new(mounts), command);
    }
    host::private::keep_to_ourselves();
    if let [_, word, task] = &arguments[..]
        && word == host::proof::PROVE_WORD
    {
        return host::proof::serve(Path::new(task));
    }
    #[cfg(debug_assertions)]
    if let [_, word, words @ ..] = &arguments[..]
        && word == host::proof::dev::WORD
    {
        return host::proof::dev::main(words);
    }
    cli::main()
}
