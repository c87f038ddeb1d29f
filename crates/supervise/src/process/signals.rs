//! The signals that ask us to end: SIGINT, SIGTERM and SIGHUP. They arrive as bytes on a pipe that
//! is polled with everything else, so no code runs inside a handler.

use rustix::fd::{AsFd, BorrowedFd};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Signals {
    pipe: UnixStream,
    last: Arc<AtomicUsize>,
    registered: Vec<SigId>,
    /// How many have come so far.
    pub count: usize,
}

impl Signals {
    pub fn listen() -> io::Result<Signals> {
        let (pipe, write) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        let last = Arc::new(AtomicUsize::new(0));
        let mut registered = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The number is stored first: whoever reads the byte finds it.
            let number = usize::try_from(signal).expect("signals are small numbers");
            registered.push(signal_hook::flag::register_usize(signal, Arc::clone(&last), number)?);
            registered.push(signal_hook::low_level::pipe::register(signal, write.try_clone()?)?);
        }
        Ok(Signals { pipe, last, registered, count: 0 })
    }

    /// Takes what has arrived and returns the last signal's number.
    pub fn take(&mut self) -> Option<i32> {
        let mut bytes = [0; 64];
        let mut arrived = 0;
        while let Ok(count @ 1..) = self.pipe.read(&mut bytes) {
            arrived += count;
        }
        self.count += arrived;
        if arrived == 0 { None } else { self.last() }
    }

    /// Returns the number of the last signal that came, whenever that was.
    pub fn last(&self) -> Option<i32> {
        i32::try_from(self.last.load(Ordering::SeqCst)).ok().filter(|it| *it != 0)
    }
}

/// A process that opens many runs listens as often; what it no longer listens with is closed.
impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

/// Returns the reason that a pause by this signal is recorded with.
pub fn reason(signal: i32) -> &'static str {
    if signal == SIGINT { "User interrupt" } else { "Graceful shutdown" }
}
