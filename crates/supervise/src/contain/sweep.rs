//! Ending everything that a call started. This process is a child subreaper, so every descendant
//! whose parent dies becomes our child, whatever session or group it fled to; a child's pid cannot be
//! reused before we collect it, so plain signals are safe here. A shim starts nothing but its calls
//! and ends every child; a controller ends only what fell to it from a dead shim, and neither signals
//! nor collects the children that it started itself. Processes that have fallen to another parent are
//! the business of `find_by_mark`.

use crate::process::git_maintenance::is_git_maintenance;
use crate::process::own_children;
use crate::process::proc_stat::{Stat, children, descendants};
use crate::records::protocol::Survivor;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, wait, waitpid,
};
use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

/// A killed process goes within milliseconds unless the kernel holds it (a dead network disk) or it
/// is not ours to signal (setuid). Two seconds without a single death say that waiting is in vain.
const STUCK: Duration = Duration::from_secs(2);

/// Chains that fork while they are being killed are ended within a second on a loaded machine; what
/// lasts thirty times as long is reported instead of holding the run forever.
const SWEEP_LIMIT: Duration = Duration::from_secs(30);

/// Deaths are waited for on this many children at a time, far below the usual limit of 1024 open
/// files. One is enough to continue.
const WATCHED: usize = 128;

/// More names than a person would read, and few enough for one line of the protocol.
const NAMED: usize = 64;

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swept {
    /// Processes that were alive and have been ended; those that git runs for itself are not counted.
    pub ended: u32,
    /// Processes that could not be ended.
    pub left: Vec<Survivor>,
}

/// Makes this process the parent of every descendant that loses its own.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Ends what fell to this process from the calls of a shim that died, and nothing else that is a child
/// of this process.
pub fn sweep() -> Swept {
    if own_children::has_ordered() { sweep_up(SweptChildren::Fallen) } else { Swept::default() }
}

/// Ends every child of this process, and theirs, until there is none: for a shim, which starts nothing
/// but its calls.
pub(crate) fn sweep_all() -> Swept {
    sweep_up(SweptChildren::All)
}

/// Which children a sweep is about.
#[derive(Clone, Copy)]
enum SweptChildren {
    All,
    /// Those that this process did not start.
    Fallen,
}

fn sweep_up(whose: SweptChildren) -> Swept {
    let mut swept = Swept::default();
    let started = Instant::now();
    let mut last_death = started;
    if let Reaped::Childless = whose.reap(&mut |_, _| {}) {
        return swept;
    }
    let mut maintenance = HashSet::new();
    loop {
        let children = whose.children();
        let of_git = children.iter().filter(|it| is_git_maintenance(it.as_raw_nonzero().get()));
        maintenance.extend(of_git.copied());
        let watched: Vec<OwnedFd> = children.iter().take(WATCHED).filter_map(|it| watch(*it)).collect();
        children.iter().for_each(|it| end(*it));
        let patience = STUCK.saturating_sub(last_death.elapsed());
        wait_for_any(&watched, patience);
        let mut died = 0;
        if let Reaped::Childless = whose.reap(&mut |pid, _| {
            died += 1;
            swept.ended += u32::from(!maintenance.contains(&pid));
        }) {
            return swept;
        }
        if 0 < died {
            last_death = Instant::now();
        }
        if last_death.elapsed() >= STUCK || started.elapsed() >= SWEEP_LIMIT {
            swept.left = whose.names();
            own_children::survived(whose.children());
            return swept;
        }
    }
}

impl SweptChildren {
    fn children(self) -> Vec<Pid> {
        let mut found = children();
        match self {
            SweptChildren::All => (),
            SweptChildren::Fallen => found.retain(|it| !own_children::is_own(*it)),
        }
        found
    }

    fn reap(self, seen: &mut dyn FnMut(Pid, WaitStatus)) -> Reaped {
        match self {
            SweptChildren::All => reap(seen),
            SweptChildren::Fallen => reap_fallen(seen),
        }
    }

    fn names(self) -> Vec<Survivor> {
        let all = Stat::all();
        let roots: Vec<i32> = self.children().iter().map(|it| it.as_raw_nonzero().get()).collect();
        let below = roots.iter().flat_map(|root| descendants(&all, *root));
        let alive = all.iter().filter(|it| roots.contains(&it.pid)).chain(below).filter(|it| !it.is_dead());
        alive.take(NAMED).map(Survivor::of).collect()
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

/// The same for those that fell to us; what this process started is left to whoever started it.
fn reap_fallen(seen: &mut dyn FnMut(Pid, WaitStatus)) -> Reaped {
    let mut has_living = false;
    for child in SweptChildren::Fallen.children() {
        match waitpid(Some(child), WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => seen(pid, status),
            Ok(None) | Err(Errno::INTR) => has_living = true,
            Err(Errno::CHILD) => {}
            Err(error) => panic!("waitpid failed in a way it cannot: {error}"),
        }
    }
    // A list read while it changes can miss a child, so an empty one is looked at again another way.
    let me = getpid().as_raw_nonzero().get();
    let is_fallen =
        |it: &Stat| it.parent == me && Pid::from_raw(it.pid).is_some_and(|pid| !own_children::is_own(pid));
    if has_living || Stat::all().iter().any(is_fallen) { Reaped::Waiting } else { Reaped::Childless }
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
