//! The last resort after both a controller and its shim were killed: their agents have fallen to
//! another parent and are known only by the run's mark in their environment. A process that cleared
//! its environment is found while its parent carries the mark, and not otherwise. Nothing is signalled
//! before a pidfd of it is held and proven to be the process that was looked at.

use crate::process::proc_stat::{Stat, descendants};
use crate::process::run_mark::RUN_MARK;
use crate::records::protocol::Survivor;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, getpid, pidfd_open, pidfd_send_signal};
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// The marked are killed at sight; those that fork meanwhile are found by the next look. As long as
/// a sweep may take.
const SEARCH_LIMIT: Duration = Duration::from_secs(30);

/// A killed process that is still there after this time is held by the kernel.
const DEATH: Duration = Duration::from_secs(2);

/// Open files held at a time, far below the usual limit of 1024.
const AT_ONCE: usize = 128;

/// Ends every process of this user that carries the mark of this run, and its descendants;
/// returns those that could not be ended. Never touches this process or its ancestors. A live shim's
/// call carries the mark too, so this is for runs that nobody holds.
pub fn end_marked(run: &str) -> Vec<Survivor> {
    let mark = format!("{RUN_MARK}={run}");
    let started = Instant::now();
    let mut immortal: HashSet<(i32, u64)> = HashSet::new();
    loop {
        let found = find(&mark);
        let fresh: Vec<&Stat> = found.iter().filter(|it| !immortal.contains(&(it.pid, it.start))).collect();
        if fresh.is_empty() || started.elapsed() >= SEARCH_LIMIT {
            return found.iter().map(Survivor::of).collect();
        }
        for some in fresh.chunks(AT_ONCE) {
            let killed: Vec<(&Stat, OwnedFd)> = some.iter().filter_map(|it| Some((*it, kill(it)?))).collect();
            let deadline = Instant::now() + DEATH;
            for (stat, pidfd) in &killed {
                if !ends_before(pidfd, deadline) {
                    immortal.insert((stat.pid, stat.start));
                }
            }
            // What refused the signal will refuse the next one.
            let refused = some.iter().filter(|it| !killed.iter().any(|(other, _)| other.pid == it.pid));
            immortal.extend(refused.map(|it| (it.pid, it.start)));
        }
    }
}

fn find(mark: &str) -> Vec<Stat> {
    let all = Stat::all();
    let spared = ancestors(&all);
    let mut found: Vec<Stat> = Vec::new();
    for marked in all.iter().filter(|it| !it.is_dead() && carries(it.pid, mark)) {
        for it in std::iter::once(marked).chain(descendants(&all, marked.pid)) {
            let is_known = found.iter().any(|other| other.pid == it.pid);
            if !is_known && !it.is_dead() && !spared.contains(&it.pid) {
                found.push(it.clone());
            }
        }
    }
    found
}

/// This process and everything above it.
fn ancestors(all: &[Stat]) -> HashSet<i32> {
    let mut line = HashSet::new();
    let mut pid = getpid().as_raw_nonzero().get();
    while line.insert(pid) {
        let Some(stat) = all.iter().find(|it| it.pid == pid) else { break };
        pid = stat.parent;
    }
    line
}

fn carries(pid: i32, mark: &str) -> bool {
    let is_ours = fs::metadata(format!("/proc/{pid}")).is_ok_and(|it| it.uid() == geteuid().as_raw());
    is_ours
        && fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|it| it.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
}

/// Opens first and compares then: a pidfd whose process started when the one we looked at did is
/// that one, and stays it.
fn kill(stat: &Stat) -> Option<OwnedFd> {
    let pidfd = pidfd_open(Pid::from_raw(stat.pid)?, PidfdFlags::empty()).ok()?;
    let same = Stat::read(stat.pid).ok()??.start == stat.start;
    (same && pidfd_send_signal(&pidfd, Signal::KILL).is_ok()).then_some(pidfd)
}

fn ends_before(pidfd: &OwnedFd, deadline: Instant) -> bool {
    let rest = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(rest).expect("two seconds fit");
    matches!(poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&timeout)), Ok(1))
}

#[cfg(test)]
mod tests {
    use super::{RUN_MARK, end_marked};
    use std::process::{Child, Command, Stdio};

    fn cat(run: &str) -> Child {
        Command::new("cat").env(RUN_MARK, run).stdin(Stdio::piped()).spawn().expect("cat")
    }

    #[test]
    fn ends_the_marked_and_nobody_else() {
        let run = format!("marked-{}", std::process::id());
        let mut marked = cat(&run);
        let mut stranger = cat(&format!("{run}-other"));
        // A shell with a child whose environment is empty.
        let script = "exec 3<&0; env -i cat <&3 & echo $!; wait";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env(RUN_MARK, &run).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().expect("sh");
        let mut line = String::new();
        let mut output = std::io::BufReader::new(shell.stdout.take().expect("a pipe"));
        std::io::BufRead::read_line(&mut output, &mut line).expect("a pid");

        assert_eq!(end_marked(&run), []);

        assert!(!marked.wait().expect("collected").success());
        assert!(!shell.wait().expect("collected").success());
        let cleared = super::Stat::read(line.trim().parse().expect("a pid")).expect("readable");
        assert!(cleared.is_none_or(|it| it.is_dead() || it.name != "cat"));
        assert!(stranger.try_wait().expect("readable").is_none());
        drop(stranger.stdin.take());
        assert!(stranger.wait().expect("collected").success());
    }

    #[test]
    fn finds_nothing_where_nothing_is() {
        assert_eq!(end_marked("no such run"), []);
    }
}
