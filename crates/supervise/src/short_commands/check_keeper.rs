//! The process between a command of ours and a check that it runs: this program again. Whoever runs the check holds
//! the other end of its standard input. When that end closes, because the command does not want the result or was
//! killed, the check is asked to end, and everything that it started is ended.

use crate::contain::sweep::{become_subreaper, sweep_all};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The word that makes this program look after a check.
pub const WORD: &str = "__check";

/// What tests clear up when they are asked to end takes a moment; a person who pressed Ctrl-C waits for it.
const GRACE: Duration = Duration::from_secs(2);

/// The grace, and the sweep of a few processes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a shell says that could not be started.
const NOT_STARTED: u8 = 127;

/// Runs a check by the shell and ends as it did.
pub fn serve(script: &OsStr) -> ExitCode {
    match look_after(script) {
        Ok(status) => ExitCode::from(code(status)),
        Err(error) => {
            eprintln!("loop: the check could not be run: {error}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn look_after(script: &OsStr) -> io::Result<ExitStatus> {
    become_subreaper()?;
    let mut command = Command::new("sh");
    let mut shell = command.arg("-c").arg(script).stdin(Stdio::null()).process_group(0).spawn()?;
    let group = Pid::from_child(&shell);
    let exit = watch(&shell)?;
    let lifeline = io::stdin();
    if !first_of(exit.as_fd(), Some(lifeline.as_fd()), None)? {
        let _already_gone = kill_process_group(group, Signal::TERM);
        if !first_of(exit.as_fd(), None, Some(GRACE))? {
            let _already_gone = kill_process_group(group, Signal::KILL);
        }
    }
    let status = shell.wait()?;
    sweep_all();
    Ok(status)
}

/// Waits for the end of a keeper whose lifeline is closed.
pub(crate) fn await_end(keeper: &mut Child) -> io::Result<()> {
    if !first_of(watch(keeper)?.as_fd(), None, Some(PATIENCE))? {
        let _already_gone = kill_process_group(Pid::from_child(keeper), Signal::KILL);
    }
    keeper.wait().map(drop)
}

fn watch(child: &Child) -> io::Result<OwnedFd> {
    Ok(pidfd_open(Pid::from_child(child), PidfdFlags::empty())?)
}

/// Says whether a process has ended; not if the other can be read first, or the time is over.
fn first_of(exit: BorrowedFd<'_>, other: Option<BorrowedFd<'_>>, most: Option<Duration>) -> io::Result<bool> {
    let deadline = most.map(|it| Instant::now() + it);
    let mut watched = vec![PollFd::from_borrowed_fd(exit, PollFlags::IN)];
    watched.extend(other.map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)));
    loop {
        let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
        let left = left.map(|it| Timespec::try_from(it).expect("our patience is seconds"));
        match poll(&mut watched, left.as_ref()) {
            Ok(_) => return Ok(!watched[0].revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// As a shell says it.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|it| 128 + it);
    status.code().or(signal).and_then(|it| u8::try_from(it).ok()).unwrap_or(1)
}
