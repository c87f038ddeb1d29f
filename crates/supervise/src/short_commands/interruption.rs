//! Ctrl-C during a check that a command runs for a person. The command is to end, after it has cleared up: the check
//! is ended, and whoever ran it gets an error that says which signal it was. Outside of checks such a command ends
//! at once, as any other program does.

use crate::process::signals::Signals;
use rustix::fd::{AsFd, BorrowedFd};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// This process was asked to end while it ran a check, which was ended.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted {
    pub signal: i32,
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted; the check that was running was ended")
    }
}

impl std::error::Error for Interrupted {}

impl Interrupted {
    /// Returns what an error says about it, if that is what it is about.
    pub fn of(error: &io::Error) -> Option<Interrupted> {
        error.get_ref()?.downcast_ref::<Interrupted>().copied()
    }
}

struct CheckSignals {
    signals: Mutex<Signals>,
    /// Outside of checks.
    ends_at_once: Arc<AtomicBool>,
}

static LISTENING: OnceLock<CheckSignals> = OnceLock::new();

/// Lets signals end the check that is running, and then this process. Not for a process that listens to signals itself.
pub fn end_checks_first() -> io::Result<()> {
    let ends_at_once = Arc::new(AtomicBool::new(true));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&ends_at_once))?;
    }
    let signals = Mutex::new(Signals::listen()?);
    let _was_called_before = LISTENING.set(CheckSignals { signals, ends_at_once });
    Ok(())
}

/// Runs a check, which ends early when the descriptor that it gets can be read.
pub(crate) fn during<T>(check: impl FnOnce(Option<BorrowedFd<'_>>) -> io::Result<T>) -> io::Result<T> {
    let Some(CheckSignals { signals, ends_at_once }) = LISTENING.get() else { return check(None) };
    let mut signals = signals.lock().unwrap_or_else(PoisonError::into_inner);
    ends_at_once.store(false, Ordering::SeqCst);
    let result = check(Some(signals.as_fd()));
    ends_at_once.store(true, Ordering::SeqCst);
    match signals.take() {
        Some(signal) => Err(io::Error::other(Interrupted { signal })),
        None => result,
    }
}
