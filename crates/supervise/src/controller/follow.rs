//! Following runs that other processes drive: wakes when something was written to the home, when one of
//! those processes is gone, when a key was pressed, or on a signal. Nothing is asked of the processes
//! that are followed, and nothing polls.

use crate::process::signals::Signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::inotify;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::path::Path;
use std::time::Duration;

/// A home on a network tells nobody when another machine writes to it, so somebody has to look.
const LONGEST_NAP: Duration = Duration::from_secs(5);

pub struct Watch {
    writes: OwnedFd,
    owners: Vec<OwnedFd>,
}

/// Why a wait ended; nothing of it means that the time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Something was typed.
    pub typed: bool,
    /// A process that is followed is gone.
    pub gone: bool,
    pub signal: Option<i32>,
}

impl Watch {
    /// Follows this process; none when it is gone already.
    pub fn of(home: &Path, pid: i32) -> io::Result<Option<Watch>> {
        let watch = Watch::of_all(home, &[pid])?;
        Ok(Some(watch).filter(|it| !it.owners.is_empty()))
    }

    /// Follows those of these processes that are there.
    pub fn of_all(home: &Path, pids: &[i32]) -> io::Result<Watch> {
        let mut owners = Vec::new();
        for pid in pids.iter().filter_map(|it| Pid::from_raw(*it)) {
            match pidfd_open(pid, PidfdFlags::empty()) {
                Ok(owner) => owners.push(owner),
                Err(Errno::SRCH) => (),
                Err(error) => return Err(error.into()),
            }
        }
        let writes = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        // The log that every commit is appended to lies here, beside the database.
        inotify::add_watch(&writes, home, inotify::WatchFlags::MODIFY | inotify::WatchFlags::CREATE)?;
        Ok(Watch { writes, owners })
    }

    /// Waits until something happens, at most for a nap.
    pub fn wait(
        &self,
        signals: &mut Signals,
        input: Option<BorrowedFd<'_>>,
        nap: Duration,
    ) -> io::Result<Woken> {
        let mut fds = vec![PollFd::new(&self.writes, PollFlags::IN), PollFd::new(&*signals, PollFlags::IN)];
        let first_owner = fds.len();
        fds.extend(self.owners.iter().map(|it| PollFd::new(it, PollFlags::IN)));
        let first_input = fds.len();
        fds.extend(input.map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)));
        let timeout = Timespec::try_from(nap.min(LONGEST_NAP)).expect("a nap is short");
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        let is_ready = |it: &PollFd<'_>| !it.revents().is_empty();
        let gone = fds[first_owner..first_input].iter().any(is_ready);
        let typed = fds[first_input..].iter().any(is_ready);
        let mut notes = [0; 4096];
        while let Ok(1..) = rustix::io::read(&self.writes, &mut notes[..]) {}
        Ok(Woken { typed, gone, signal: signals.take() })
    }
}
