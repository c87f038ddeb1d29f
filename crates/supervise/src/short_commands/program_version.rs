//! Asking a program for its version.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Agents written for Node take two seconds to say it on a busy machine.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Returns the first line that the program prints, if it prints one in time. Some print it to standard error.
pub fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn().ok()?;
    let (output, complaints) = (child.stdout.take()?, child.stderr.take()?);
    let line = first_line(output).or_else(|| first_line(complaints));
    // It has said what we wanted, or will not.
    let _may_have_ended = child.kill();
    let _is_gone = child.wait();
    line
}

fn first_line(mut pipe: impl Read + AsFd) -> Option<String> {
    let ready = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&PATIENCE));
    let mut bytes = [0; 200];
    let count = if ready.is_ok_and(|it| 0 < it) { pipe.read(&mut bytes).unwrap_or(0) } else { 0 };
    let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
    text.lines().next().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
}
