//! Waiting for the end of processes that are not ours, without looking again and again.

use rustix::event::epoll;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;

/// Becomes readable when one of the processes ends.
#[derive(Debug)]
pub struct Deaths {
    watch: OwnedFd,
    /// What is watched lives as long as the watch.
    _processes: Vec<OwnedFd>,
}

impl Deaths {
    /// Watches these processes. One that has ended already is left out.
    pub fn of(pids: impl IntoIterator<Item = i32>) -> io::Result<Deaths> {
        let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut processes = Vec::new();
        let living = pids.into_iter().filter_map(Pid::from_raw);
        for process in living.filter_map(|it| pidfd_open(it, PidfdFlags::empty()).ok()) {
            let data = epoll::EventData::new_u64(processes.len() as u64);
            epoll::add(&watch, &process, data, epoll::EventFlags::IN)?;
            processes.push(process);
        }
        Ok(Deaths { watch, _processes: processes })
    }
}

impl AsFd for Deaths {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::Deaths;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fd::AsFd;
    use std::process::{Command, Stdio};

    fn is_readable(deaths: &Deaths, wait_s: i64) -> bool {
        let wait = Timespec { tv_sec: wait_s, tv_nsec: 0 };
        let mut watched = [PollFd::from_borrowed_fd(deaths.as_fd(), PollFlags::IN)];
        poll(&mut watched, Some(&wait)).expect("a poll") == 1
    }

    #[test]
    fn the_end_of_any_process_is_heard() {
        let mut children: Vec<_> = (0..2)
            .map(|_| Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat"))
            .collect();
        let deaths = Deaths::of(children.iter().map(|it| it.id().cast_signed())).expect("a watch");
        assert!(!is_readable(&deaths, 0));
        drop(children[1].stdin.take());
        assert!(is_readable(&deaths, 20));
        for mut child in children {
            drop(child.stdin.take());
            child.wait().expect("ended");
        }
        assert!(!is_readable(&Deaths::of([i32::MAX]).expect("a watch"), 0));
    }
}
