//! Starting the program of an order: standard input from memory, output through pipes, a complete
//! environment, its own process group. Nothing here runs between fork and exec, so the start is a
//! `posix_spawn`, which does not slow down with the size of this process.

use crate::process::rlimits;
use crate::records::protocol::{Order, OrderKind};
use rustix::fd::OwnedFd;
use rustix::fs::{Access, MemfdFlags, access, memfd_create};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The default of 64 KiB halves the throughput of a chatty agent; more than this gains nothing.
pub(crate) const PIPE_BYTES: usize = 256 * 1024;

/// Added to the score by which the kernel picks a victim when memory is out: the agent and what it
/// starts go long before the shim, the controller, or the user's editor.
const OOM_HANDICAP: i32 = 500;

/// A program under way.
pub struct Program {
    pub pid: Pid,
    pub pidfd: OwnedFd,
    /// Standard output and standard error; a check has both in the first.
    pub pipes: [Option<OwnedFd>; 2],
}

/// What is kept between two starts.
pub struct Launcher {
    oom_score: Option<OomScore>,
    /// Our own `TMPDIR`, which orders inherit.
    tmp: Option<OsString>,
}

impl Launcher {
    /// Is made before this process keeps to itself: from then on the kernel counts our own files in
    /// `/proc` as root's, and only what is open already can be written.
    pub fn open() -> Launcher {
        Launcher { oom_score: OomScore::open(), tmp: std::env::var_os("TMPDIR") }
    }

    /// Starts the program of this order, or says why it cannot be started.
    pub fn start(&self, order: &Order, scratch: Option<&Path>) -> Result<Program, String> {
        let name = order.argv.first().ok_or("the order names no program")?;
        let path = find(name, order)?;
        let plumbing = |error: io::Error| format!("no pipe for {}: {error}", name.to_string_lossy());
        let (out, out_end) = pipe().map_err(plumbing)?;
        let (err, err_end) = match order.kind {
            OrderKind::Call => pipe().map(|(err, end)| (Some(err), end)).map_err(plumbing)?,
            // One pipe keeps the order in which lines were written.
            OrderKind::Check => (None, out_end.try_clone().map_err(plumbing)?),
        };
        let mut command = Command::new(path);
        command.arg0(name).args(&order.argv[1..]).current_dir(&order.cwd);
        command.env_clear().envs(order.env.iter().map(|(name, value)| (name, value)));
        // One that differs from ours was set on purpose.
        let has_own =
            order.env.iter().any(|(name, value)| name == "TMPDIR" && Some(value) != self.tmp.as_ref());
        if let Some(scratch) = scratch.filter(|_| !has_own) {
            command.env("TMPDIR", scratch);
        }
        command.stdin(memory(&order.stdin).map_err(plumbing)?).stdout(out_end).stderr(err_end);
        command.process_group(0);
        if let Some(score) = &self.oom_score {
            score.set(OOM_HANDICAP);
        }
        let spared = rlimits::spare_processes(order.bounds.processes);
        let child = command.spawn();
        drop(spared);
        if let Some(score) = &self.oom_score {
            score.set(0);
        }
        let child = child.map_err(|error| explain(&error, order))?;
        let pid = Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).expect("a child that was not collected is there");
        Ok(Program { pid, pidfd, pipes: [Some(out), err] })
    }
}

/// Looks the program up in the order's own PATH. Left to the standard library, a name without a
/// slash and an environment of its own would cost a `fork`.
fn find(name: &OsStr, order: &Order) -> Result<PathBuf, String> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    let path = order.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let mut candidates = folders.map(|it| order.cwd.join(it).join(name));
    let is_program = |it: &PathBuf| it.is_file() && access(it, Access::EXEC_OK).is_ok();
    candidates
        .find(is_program)
        .ok_or_else(|| format!("{} is not installed, or not in PATH", name.to_string_lossy()))
}

fn explain(error: &io::Error, order: &Order) -> String {
    if !order.cwd.is_dir() {
        return format!("the folder {} does not exist", order.cwd.display());
    }
    format!("{} cannot be started: {error}", order.argv[0].to_string_lossy())
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    // Users have a budget for pipes; a slow pipe is better than none.
    let _ = fcntl_setpipe_size(&read, PIPE_BYTES);
    Ok((read, write))
}

/// A pipe would need somebody to feed it; a file in memory ends by itself and is never a terminal.
fn memory(text: &str) -> io::Result<Stdio> {
    if text.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = File::from(memfd_create("prompt", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

/// Our own score, raised while a child is made, which inherits it: there is no moment in which the
/// child has the wrong one.
struct OomScore {
    file: File,
    usual: i32,
}

impl OomScore {
    fn open() -> Option<OomScore> {
        let usual = fs::read_to_string("/proc/self/oom_score_adj").ok()?.trim().parse().ok()?;
        let file = File::options().write(true).open("/proc/self/oom_score_adj").ok()?;
        Some(OomScore { file, usual })
    }

    /// What the system does not allow is left as it is.
    fn set(&self, handicap: i32) {
        let score = (self.usual + handicap).min(1000).to_string();
        let _ = self.file.write_at(score.as_bytes(), 0);
    }
}
