//! `loop`: an autonomous loop controller for coding agents. Reading order is dependency order; a
//! module uses only what stands above it.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod clock;

mod config_folder;

mod diagnostics;

mod drive;

mod tree;

mod measure;

mod deliver;

mod world;

mod hook;

mod sim;

mod desk;

mod pool;

mod cli;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod whole;

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
        let launcher = loop_supervise::shim::spawn::Launcher::open();
        loop_supervise::hardening::keep_to_ourselves();
        return loop_supervise::shim::serve(Path::new(run_dir), epoch, launcher);
    }
    // Its own files in `/proc` have to be its own, so it comes before the next line.
    if let [_, word, mounts, command @ ..] = &arguments[..]
        && word == loop_supervise::mount::WORD
    {
        return loop_supervise::mount::become_command(Path::new(mounts), command);
    }
    loop_supervise::hardening::keep_to_ourselves();
    diagnostics::install();
    if let [_, word, task] = &arguments[..]
        && word == measure::proof::PROVE_WORD
    {
        return measure::proof::serve(Path::new(task));
    }
    if let [_, word, script] = &arguments[..]
        && word == loop_supervise::check_keeper::WORD
    {
        return loop_supervise::check_keeper::serve(script);
    }
    #[cfg(debug_assertions)]
    if let [_, word, words @ ..] = &arguments[..]
        && word == measure::proof::dev::WORD
    {
        return measure::proof::dev::main(words);
    }
    cli::main()
}
