//! A short conversation with a child process of ours: its whole input is known beforehand, its whole
//! output fits into memory, and it has a limited time. Used for git, which answers in milliseconds;
//! agents and checks are another matter and have other machinery.
//!
//! There is one thread and no sleep: both directions and the exit are awaited together.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// A program says what is wrong in a line or two. The rest of stderr is read and dropped.
const ERROR_TEXT_MOST: usize = 2_000;

/// Where the exit of a process cannot be awaited beside its pipes, it is asked for this often.
const EXIT_POLL: Duration = Duration::from_millis(10);

pub struct Output {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

pub enum ExchangeResult {
    All(ExitStatus, Output),
    TooLate,
    TooMuch,
}

/// Feeds the child, reads what it prints and reaps it. On every way out the child is dead.
pub fn converse(
    child: &mut Child,
    input: &[u8],
    time_most: Duration,
    output_most: usize,
) -> std::io::Result<ExchangeResult> {
    let result = converse_unless(child, input, time_most, output_most, None)?;
    Ok(result.expect("nothing is watched beside the child"))
}

/// The same, until this can be read; then there is no result, and the living child is left to the caller.
pub(crate) fn converse_unless(
    child: &mut Child,
    input: &[u8],
    time_most: Duration,
    output_most: usize,
    cut: Option<BorrowedFd<'_>>,
) -> std::io::Result<Option<ExchangeResult>> {
    let deadline = Instant::now() + time_most;
    let mut output = Output { stdout: Vec::new(), stderr: Vec::new() };
    let ended = exchange(child, input, deadline, output_most, &mut output, cut);
    if matches!(ended, Ok(ExchangeEnd::Cut)) {
        return Ok(None);
    }
    if !matches!(ended, Ok(ExchangeEnd::Exited)) {
        // The child has not been reaped, so its id still names its group and nothing else.
        let group = rustix::process::Pid::from_child(child);
        let _already_gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let status = child.wait()?;
    Ok(match ended? {
        ExchangeEnd::Exited => Some(ExchangeResult::All(status, output)),
        ExchangeEnd::TooLate => Some(ExchangeResult::TooLate),
        ExchangeEnd::TooMuch => Some(ExchangeResult::TooMuch),
        ExchangeEnd::Cut => None,
    })
}

enum ExchangeEnd {
    Exited,
    TooLate,
    TooMuch,
    Cut,
}

fn exchange(
    child: &mut Child,
    mut input: &[u8],
    deadline: Instant,
    output_most: usize,
    output: &mut Output,
    cut: Option<BorrowedFd<'_>>,
) -> std::io::Result<ExchangeEnd> {
    let exit = exit_watch(child);
    let (mut stdin, mut stdout, mut stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    for pipe in
        [stdin.as_ref().map(AsFd::as_fd), stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)]
    {
        let Some(pipe) = pipe else { continue };
        rustix::fs::fcntl_setfl(pipe, rustix::fs::fcntl_getfl(pipe)? | rustix::fs::OFlags::NONBLOCK)?;
    }
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(ExchangeEnd::TooLate);
        }
        let patience = if exit.is_some() { left } else { left.min(EXIT_POLL) };
        if await_any(cut, exit.as_ref(), stdin.as_ref(), stdout.as_ref(), stderr.as_ref(), patience)? {
            return Ok(ExchangeEnd::Cut);
        }
        // Asked before the pipes are read: what an exited child wrote is in them already, and
        // something it left behind may hold them open forever.
        let exited = has_exited(child)?;
        if let Some(pipe) = &mut stdin
            && write_some(pipe, &mut input)?
        {
            stdin = None;
        }
        if read_some(&mut stdout, &mut output.stdout, output_most)? {
            return Ok(ExchangeEnd::TooMuch);
        }
        let _surplus_is_dropped = read_some(&mut stderr, &mut output.stderr, ERROR_TEXT_MOST)?;
        if exited {
            return Ok(ExchangeEnd::Exited);
        }
    }
}

fn has_exited(child: &mut Child) -> std::io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(rustix::process::Pid::from_child(child)), options)?.is_some())
}

#[cfg(target_os = "linux")]
fn exit_watch(child: &Child) -> Option<OwnedFd> {
    let flags = rustix::process::PidfdFlags::empty();
    rustix::process::pidfd_open(rustix::process::Pid::from_child(child), flags).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_watch(_child: &Child) -> Option<OwnedFd> {
    None
}

/// Waits until there is something to do, and says whether the first of these can be read.
fn await_any(
    cut: Option<BorrowedFd<'_>>,
    exit: Option<&OwnedFd>,
    stdin: Option<&impl AsFd>,
    stdout: Option<&impl AsFd>,
    stderr: Option<&impl AsFd>,
    patience: Duration,
) -> std::io::Result<bool> {
    let mut watched = Vec::with_capacity(5);
    watched.extend(cut.map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)));
    watched.extend(exit.map(|it| PollFd::new(it, PollFlags::IN)));
    watched.extend(stdin.map(|it| PollFd::new(it, PollFlags::OUT)));
    watched.extend(stdout.map(|it| PollFd::new(it, PollFlags::IN)));
    watched.extend(stderr.map(|it| PollFd::new(it, PollFlags::IN)));
    let patience = Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: patience.subsec_nanos().into(),
    };
    match poll(&mut watched, Some(&patience)) {
        Ok(_) => Ok(cut.is_some() && watched.first().is_some_and(|it| !it.revents().is_empty())),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Writes what fits; returns whether there is nothing more to write.
fn write_some(pipe: &mut impl Write, input: &mut &[u8]) -> std::io::Result<bool> {
    while !input.is_empty() {
        match pipe.write(input) {
            Ok(count) => *input = &input[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            // Git stopped reading; its exit code says why.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Reads what is there into `kept`, closes the pipe at its end, and returns whether more than
/// `most` bytes came.
fn read_some(pipe: &mut Option<impl Read>, kept: &mut Vec<u8>, most: usize) -> std::io::Result<bool> {
    let mut chunk = [0; 32 << 10];
    let mut overflowed = false;
    while let Some(open) = pipe {
        match open.read(&mut chunk) {
            Ok(0) => *pipe = None,
            Ok(count) => {
                let room = most - kept.len();
                overflowed |= count > room;
                kept.extend_from_slice(&chunk[..count.min(room)]);
                if overflowed {
                    return Ok(true);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
    }
    Ok(overflowed)
}
