//! Programs that are run for a person: a check before work leaves the machine, the
//! command line of a code host. They run in the foreground, without a terminal, within a limit of
//! time and of output, and everything they print is returned. Agents and the checks of a run have
//! other machinery.

use crate::contain;
use crate::process::own_children;
use crate::process::run_mark::RUN_MARK;
use crate::short_commands::exchange::{ExchangeResult, converse_unless};
use crate::short_commands::git_variables::leads_astray;
use crate::short_commands::{check_keeper, interruption};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a check prints is looked at by nobody beyond its end; this holds every test log we know.
const OUTPUT_MOST: usize = 64 << 20;

/// What a command came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandResult {
    pub is_done: bool,
    pub output: String,
    /// What went wrong, in a line.
    pub trouble: String,
}

/// Runs a program with these arguments and these variables in a folder and waits for it.
pub fn run<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
    folder: &Path,
    environment: Vec<(OsString, OsString)>,
    time_most: Duration,
) -> io::Result<CommandResult> {
    let mut command = command(program, arguments, folder);
    command.envs(environment);
    carry_out(command, time_most, None)
}

/// Runs a check by the shell. Agents write what checks execute, so it carries the mark of a run, by which
/// commands of ours are refused below it, and nothing that it started is left when it is over, nor when this
/// process is killed meanwhile: `check_keeper` looks after it.
pub fn run_check(script: &str, run: &str, folder: &Path, time_most: Duration) -> io::Result<CommandResult> {
    contain::become_subreaper()?;
    own_children::before_order();
    let mut command = command("/proc/self/exe", [check_keeper::WORD, script], folder);
    command.env(RUN_MARK, run).stdin(Stdio::piped());
    let result = interruption::during(|cut| carry_out(command, time_most, cut));
    contain::sweep();
    result
}

fn command<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).process_group(0);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if leads_astray(&text) || text.starts_with("LOOP_") {
            command.env_remove(name);
        }
    }
    command.env("CI", "true").env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn carry_out(
    mut command: Command,
    time_most: Duration,
    cut: Option<BorrowedFd<'_>>,
) -> io::Result<CommandResult> {
    let mut child = command.spawn()?;
    // Open for as long as this process wants the result.
    let lifeline = child.stdin.take();
    let failed = |trouble: String| CommandResult { is_done: false, output: String::new(), trouble };
    Ok(match converse_unless(&mut child, &[], time_most, OUTPUT_MOST, cut)? {
        Some(ExchangeResult::All(status, said)) => {
            let words = String::from_utf8_lossy(&said.stderr);
            let last = words.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or("").trim().to_owned();
            CommandResult {
                is_done: status.success(),
                output: String::from_utf8_lossy(&said.stdout).into_owned(),
                trouble: if status.success() { String::new() } else { format!("{status}: {last}") },
            }
        }
        Some(ExchangeResult::TooLate) => {
            failed(format!("it took longer than {} s and was ended", time_most.as_secs()))
        }
        Some(ExchangeResult::TooMuch) => failed(format!("it printed more than {} MiB", OUTPUT_MOST >> 20)),
        None => {
            drop(lifeline);
            check_keeper::await_end(&mut child)?;
            failed("it was interrupted".to_owned())
        }
    })
}

/// Whether a program of this name is in PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
    folders
        .map(|it| it.join(program))
        .any(|it| it.is_file() && rustix::fs::access(&it, rustix::fs::Access::EXEC_OK).is_ok())
}
