//! A controller that belongs to no terminal: this program again, in a session of its own, so that
//! neither Ctrl-C nor a closed terminal reaches it. Whoever starts it waits until it owns its run,
//! which it says on its output before it lets go of it; if it never does, what it said instead and
//! its exit code are handed on.

use crate::process::own_children;
use loop_base::files::ours;
use rustix::process::{Pid, WaitOptions};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What it says when it owns its run.
const READY: &str = "ready\n";

/// More than this is no message; the rest is left unread.
const MESSAGE_MOST: u64 = 1 << 20;

/// What became of a start.
pub enum Started {
    /// It owns the run, under this pid.
    Owns(u32),
    Failed {
        out: String,
        err: String,
        exit: u8,
    },
}

/// Starts this program with these words and waits until it owns its run, or ends.
pub fn start(words: &[OsString]) -> io::Result<Started> {
    let mut command = Command::new("/proc/self/exe");
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (mut out, mut err) = (String::new(), String::new());
    // Its messages are shorter than a pipe, so reading one after the other cannot block it.
    child.stdout.take().expect("a pipe").take(MESSAGE_MOST).read_to_string(&mut out)?;
    child.stderr.take().expect("a pipe").take(MESSAGE_MOST).read_to_string(&mut err)?;
    if out.ends_with(READY) {
        return Ok(Started::Owns(child.id()));
    }
    let exit = child.wait()?.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
    Ok(Started::Failed { out, err, exit })
}

/// Takes note that a controller which this process started has ended. One that still works, or that
/// somebody else started, is left alone.
pub fn reap(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _is_not_ours = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Starts this program with these words and does not wait for it. What it complains about goes to a
/// file.
pub fn launch(words: &[OsString], complaints: File) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.args(words).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
    let child = command.spawn()?;
    let _kept_by_its_identity = own_children::remember(Pid::from_child(&child));
    Ok(child)
}

/// Leaves the session of whoever started this process. One that leads a group already cannot; it
/// was started by hand, and whoever did that decides where it belongs.
pub fn leave_session() {
    let _leads_already = rustix::process::setsid();
}

/// Tells whoever waits that the run is owned, and writes into this file from here on.
pub fn let_go(log: &Path) -> io::Result<()> {
    let log = ours().create(true).append(true).open(log)?;
    let _nobody_waits = io::stdout().write_all(READY.as_bytes()).and_then(|()| io::stdout().flush());
    rustix::stdio::dup2_stdout(&log)?;
    rustix::stdio::dup2_stderr(&log)?;
    Ok(())
}
