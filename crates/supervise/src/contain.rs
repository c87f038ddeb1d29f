//! Ending everything that a call started. This process is a child subreaper, so every descendant
//! whose parent dies becomes our child, whatever session or group it fled to; a child's pid cannot be
//! reused before we collect it, so plain signals are safe here. It ends children only; processes that
//! have fallen to another parent are the business of `hunt`.

use crate::proc_stat::{Stat, descendants};
use crate::protocol::Left;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, wait,
};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// A killed process goes within milliseconds unless the kernel holds it (a dead network disk) or it
/// is not ours to signal (setuid). Two seconds without a single death say that waiting is in vain.
const STUCK: Duration = Duration::from_secs(2);

/// Chains that fork while they are being killed are ended within a second on a loaded machine; what
/// lasts thirty times as long is reported instead of holding the run for ever.
const SWEEP_LIMIT: Duration = Duration::from_secs(30);

/// Deaths are waited for on this many children at a time, far below the usual limit of 1024 open
/// files. One is enough to go on.
const WATCHED: usize = 128;

/// More names than a person would read, and few enough for one line of the protocol.
const NAMED: usize = 64;

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swept {
    /// Processes that were alive and have been ended.
    pub ended: u32,
    /// Processes that could not be ended.
    pub left: Vec<Left>,
}

/// Makes this process the parent of every descendant that loses its own.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Ends every child of this process, and theirs, until there is none. The caller must have no child
/// that it wants to keep.
pub fn sweep() -> Swept {
    let mut swept = Swept::default();
    let started = Instant::now();
    let mut last_death = started;
    if let Reaped::Childless = reap(&mut |_, _| {}) {
        return swept;
    }
    loop {
        let children = children();
        let watched: Vec<OwnedFd> = children.iter().take(WATCHED).filter_map(|it| watch(*it)).collect();
        children.iter().for_each(|it| end(*it));
        let patience = STUCK.saturating_sub(last_death.elapsed());
        wait_for_any(&watched, patience);
        let before = swept.ended;
        if let Reaped::Childless = reap(&mut |_, _| swept.ended += 1) {
            return swept;
        }
        if swept.ended > before {
            last_death = Instant::now();
        }
        if last_death.elapsed() >= STUCK || started.elapsed() >= SWEEP_LIMIT {
            swept.left = names();
            return swept;
        }
    }
}

/// What collecting the dead came to.
pub enum Reaped {
    /// Some children are alive.
    Waiting,
    /// There is no child at all.
    Childless,
}

/// Collects every child that has ended, without waiting.
pub(crate) fn reap(seen: &mut dyn FnMut(Pid, WaitStatus)) -> Reaped {
    loop {
        // Not `waitpid(None, …)`: that one means our own process group only.
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => seen(pid, status),
            Ok(None) => return Reaped::Waiting,
            Err(Errno::CHILD) => return Reaped::Childless,
            Err(Errno::INTR) => {}
            Err(error) => panic!("wait failed in a way it cannot: {error}"),
        }
    }
}

/// How busy everything below this process is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Processor time used so far, by the dead too, so that it only grows.
    pub cpu: Duration,
    /// Whether some process has work at this moment: it runs, waits for a processor on a machine that
    /// is short of them, or waits for a disk.
    pub has_work: bool,
}

/// Looks at everything below this process. It reads the whole process table, so it is for rare use.
pub fn load() -> Load {
    let me = getpid().as_raw_nonzero().get();
    let all = Stat::all();
    let below = descendants(&all, me);
    let collected: Duration = all.iter().filter(|it| it.pid == me).map(|it| it.children_cpu).sum();
    let living: Duration = below.iter().map(|it| it.own_cpu + it.children_cpu).sum();
    Load { cpu: collected + living, has_work: below.iter().any(|it| matches!(it.state, 'R' | 'D')) }
}

/// Groups first: the kernel signals a group atomically with respect to fork, which ends chains that
/// fork faster than their pids can be read.
fn end(child: Pid) {
    if let Some(group) = foreign_group(child) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    // It may be gone, or not ours to signal; the sweep sees what became of it.
    let _ = kill_process(child, Signal::KILL);
}

/// The child's group, if nobody but our descendants can be in it: a group lies inside one session,
/// and a session other than ours, or one that we lead, was made below us. The kernel's text is read
/// and not `getsid`, which answers 0 where the leader is outside our pid namespace; 0 names nobody.
fn foreign_group(child: Pid) -> Option<Pid> {
    let me = Stat::read(getpid().as_raw_nonzero().get()).ok()??;
    let child = Stat::read(child.as_raw_nonzero().get()).ok()??;
    let is_ours = child.session == me.session && me.session != me.pid;
    if child.group == me.group || is_ours { None } else { Pid::from_raw(child.group) }
}

/// Every thread has its own list of children, and orphans may fall to any of them.
fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    let text = lists.collect::<Vec<String>>();
    if !text.is_empty() {
        return text.iter().flat_map(|it| it.split_ascii_whitespace()).filter_map(pid_of).collect();
    }
    // Kernels can be built without these lists.
    let me = getpid().as_raw_nonzero().get();
    Stat::all().iter().filter(|it| it.parent == me).filter_map(|it| Pid::from_raw(it.pid)).collect()
}

fn pid_of(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

fn watch(child: Pid) -> Option<OwnedFd> {
    pidfd_open(child, PidfdFlags::empty()).ok()
}

fn wait_for_any(watched: &[OwnedFd], patience: Duration) {
    // A list read while it changes can miss every child; the next look is due at once then, but not
    // so fast that it keeps the dying from the processor.
    let patience = if watched.is_empty() { patience.min(Duration::from_millis(1)) } else { patience };
    let mut fds: Vec<PollFd<'_>> = watched.iter().map(|it| PollFd::new(it, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(patience).expect("two seconds fit");
    // Interrupted or not, the caller looks again.
    let _ = poll(&mut fds, Some(&timeout));
}

fn names() -> Vec<Left> {
    let me = getpid().as_raw_nonzero().get();
    let all = Stat::all();
    let alive = descendants(&all, me).into_iter().filter(|it| !it.is_dead());
    alive.take(NAMED).map(|it| Left { pid: it.pid, name: it.name.clone() }).collect()
}
