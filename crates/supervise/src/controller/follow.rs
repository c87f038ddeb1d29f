//! Following runs that other processes drive: wakes when something was written to the home, when a call that is
//! followed wrote something, when one of those processes is gone, when a key was pressed, or on a signal. Nothing is asked of the processes
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
    /// The folder of a run, in which its calls have their output.
    outputs: Option<OwnedFd>,
    owners: Vec<OwnedFd>,
}

/// Why a wait ended; nothing of it means that the time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// A commit may have been made.
    pub written: bool,
    /// A call may have written something.
    pub output: bool,
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
        // The log that every commit is appended to lies here, beside the database.
        Ok(Watch { writes: writes_in(home)?, outputs: None, owners })
    }

    /// Wakes also when a call writes to its output in this folder.
    pub fn with_outputs(self, folder: &Path) -> io::Result<Watch> {
        Ok(Watch { outputs: Some(writes_in(folder)?), ..self })
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
        let first_output = fds.len();
        fds.extend(self.outputs.iter().map(|it| PollFd::new(it, PollFlags::IN)));
        let first_input = fds.len();
        fds.extend(input.map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)));
        let timeout = Timespec::try_from(nap.min(LONGEST_NAP)).expect("a nap is short");
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        let is_ready = |it: &PollFd<'_>| !it.revents().is_empty();
        let woken = Woken {
            written: is_ready(&fds[0]),
            output: fds[first_output..first_input].iter().any(is_ready),
            typed: fds[first_input..].iter().any(is_ready),
            gone: fds[first_owner..first_output].iter().any(is_ready),
            signal: None,
        };
        drop(fds);
        std::iter::once(&self.writes).chain(&self.outputs).for_each(drain);
        Ok(Woken { signal: signals.take(), ..woken })
    }
}

/// Begins to notice what is written to the files of a folder.
fn writes_in(folder: &Path) -> io::Result<OwnedFd> {
    let notes = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&notes, folder, inotify::WatchFlags::MODIFY | inotify::WatchFlags::CREATE)?;
    Ok(notes)
}

fn drain(notes: &OwnedFd) {
    let mut bytes = [0; 4096];
    while let Ok(1..) = rustix::io::read(notes, &mut bytes[..]) {}
}

#[cfg(test)]
mod tests {
    use super::{Watch, Woken};
    use crate::process::signals::Signals;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn a_line_of_a_call_wakes_and_a_commit_is_told_apart_from_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (home, run) = (folder.path().join("home"), folder.path().join("home/runs/a"));
        std::fs::create_dir_all(&run).expect("folders");
        let own = i32::try_from(std::process::id()).expect("a pid");
        let watch = Watch::of(&home, own).expect("readable").expect("it is there");
        let watch = watch.with_outputs(&run).expect("readable");
        let mut signals = Signals::listen().expect("signals");
        let mut wait = || watch.wait(&mut signals, None, Duration::from_secs(3600)).expect("a wait");
        // The output is there only once the call has begun.
        let mut output = std::fs::File::create(run.join("call-1.out")).expect("a file");
        assert_eq!(wait(), Woken { output: true, ..Woken::default() });
        output.write_all(b"a line").expect("written");
        assert_eq!(wait(), Woken { output: true, ..Woken::default() });
        std::fs::write(home.join("loop.db-wal"), "a commit").expect("written");
        assert_eq!(wait(), Woken { written: true, ..Woken::default() });
    }
}
