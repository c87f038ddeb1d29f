//! How the wish to end a call reaches a shim that has no controller at the other end of its pipe: by
//! signal. SIGTERM asks and, a second time, insists; SIGQUIT insists at once, because two SIGTERM in
//! a row may arrive as one. What a closing terminal or a limit on file sizes would send is heard and
//! changes nothing.

use crate::records::protocol::Force;
use rustix::fd::{AsFd, BorrowedFd};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The signals of this process, as something that can be polled.
pub(crate) struct Interrupts {
    soft: UnixStream,
    hard: UnixStream,
    has_asked: bool,
}

impl Interrupts {
    /// Takes over the signals of this process.
    pub(crate) fn listen() -> io::Result<Interrupts> {
        // Handlers, not SIG_IGN: an ignored signal stays ignored in every program that we start, and
        // an agent that cannot hear SIGINT cannot write its result.
        for signal in [SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGXFSZ] {
            signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
        }
        Ok(Interrupts { soft: pipe(SIGTERM)?, hard: pipe(SIGQUIT)?, has_asked: false })
    }

    /// Returns what becomes readable when a signal comes.
    pub(crate) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.soft.as_fd(), self.hard.as_fd()]
    }

    /// Returns what the signals since the last look ask for.
    pub(crate) fn take(&mut self) -> Option<Force> {
        let soft = drain(&mut self.soft);
        let hard = drain(&mut self.hard);
        if soft == 0 && hard == 0 {
            return None;
        }
        let insists = hard > 0 || soft > 1 || self.has_asked;
        self.has_asked = true;
        Some(if insists { Force::Hard } else { Force::Soft })
    }

    /// Forgets what was asked of an earlier call.
    pub(crate) fn forget(&mut self) {
        self.take();
        self.has_asked = false;
    }
}

fn pipe(signal: i32) -> io::Result<UnixStream> {
    let (ours, handlers) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal, handlers)?;
    Ok(ours)
}

fn drain(stream: &mut UnixStream) -> usize {
    let mut bytes = [0; 64];
    stream.read(&mut bytes).unwrap_or(0)
}
