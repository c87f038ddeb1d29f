//! Following a run that another process drives: wakes when something was written to the home, when
//! that process is gone, when a key was pressed, or on a signal. Nothing is asked of the process
//! that is followed, and nothing polls.

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
    owner: OwnedFd,
}

/// Why a wait ended; nothing of it means that the time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Something was typed.
    pub typed: bool,
    /// The process that is followed is gone.
    pub gone: bool,
    pub signal: Option<i32>,
}

impl Watch {
    /// Follows this process; none when it is gone already.
    pub fn of(home: &Path, pid: i32) -> io::Result<Option<Watch>> {
        let Some(pid) = Pid::from_raw(pid) else { return Ok(None) };
        let owner = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(owner) => owner,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let writes = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        // The log that every commit is appended to lies here, beside the database.
        inotify::add_watch(&writes, home, inotify::WatchFlags::MODIFY | inotify::WatchFlags::CREATE)?;
        Ok(Some(Watch { writes, owner }))
    }

    /// Waits until something happens, at most for a nap.
    pub fn wait(
        &self,
        signals: &mut Signals,
        input: Option<BorrowedFd<'_>>,
        nap: Duration,
    ) -> io::Result<Woken> {
        let mut fds = vec![
            PollFd::new(&self.writes, PollFlags::IN),
            PollFd::new(&self.owner, PollFlags::IN),
            PollFd::new(&*signals, PollFlags::IN),
        ];
        fds.extend(input.map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)));
        let timeout = Timespec::try_from(nap.min(LONGEST_NAP)).expect("a nap is short");
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| fds.get(at).is_some_and(|it| !it.revents().is_empty());
        let (gone, typed) = (is_ready(1), is_ready(3));
        let mut notes = [0; 4096];
        while let Ok(1..) = rustix::io::read(&self.writes, &mut notes[..]) {}
        Ok(Woken { typed, gone, signal: signals.take() })
    }
}
