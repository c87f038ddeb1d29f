//! The controller's end of its shim: starts it, hands it orders, and hears what became of them. It
//! never waits except for the shim's first word; the caller polls. What a dead shim leaves behind is
//! swept by the caller, who is a subreaper too.

use crate::process::own_children;
use crate::records::protocol::{Bounds, Force, Order, OrderEnd, Reply, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A shim says hello within milliseconds; on a machine that swaps, within seconds.
const HELLO_PATIENCE: Duration = Duration::from_secs(20);

/// A call has ten seconds after a polite request, and the shim clears up after it.
const SOFT_PATIENCE: Duration = Duration::from_secs(15);
const HARD_PATIENCE: Duration = Duration::from_secs(5);

/// An idle shim goes at once when its orders end; a stopped one is left to end when it continues.
const FAREWELL_PATIENCE: Duration = Duration::from_secs(2);

/// Between the last limit of an order and its answer lie the steps of the ladder and the sweep, less
/// than forty seconds together. A shim that takes longer was stopped or starved, and holds no limits.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);

/// A shim of our own.
pub struct Keeper {
    shim: Child,
    /// What spares it in a sweep while it lives.
    id: Option<own_children::Id>,
    /// The child may be collected by a sweep, after which its pid means nothing; this stays true.
    pidfd: OwnedFd,
    due: Option<Instant>,
    orders: Option<ChildStdin>,
    answers: ChildStdout,
    bytes: Vec<u8>,
    is_busy: bool,
    epoch: u64,
    has_grown: bool,
    has_greeted: bool,
}

impl Keeper {
    /// Starts the shim of this epoch and does not wait for it, so that it gets ready while the
    /// controller does something else. `exe` is this program, as `/proc/self/exe`; `run_dir` must be
    /// absolute.
    pub fn start(exe: &Path, run_dir: &Path, epoch: u64) -> io::Result<Keeper> {
        let mut command = Command::new(exe);
        command.arg("__shim").arg(run_dir).arg(epoch.to_string());
        // A shim outlives its controller and must not hold on to its folder or its terminal.
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shim = command.spawn()?;
        let id = own_children::remember(Pid::from_child(&shim));
        let pidfd = pidfd_open(Pid::from_child(&shim), PidfdFlags::empty())?;
        let orders = shim.stdin.take();
        let answers = shim.stdout.take().expect("the output was to be a pipe");
        Ok(Keeper {
            shim,
            id,
            pidfd,
            due: None,
            orders,
            answers,
            bytes: Vec::new(),
            is_busy: false,
            epoch,
            has_grown: false,
            has_greeted: false,
        })
    }

    /// Waits until the shim is known by name on disk.
    pub fn greet(&mut self) -> io::Result<()> {
        if self.has_greeted {
            return Ok(());
        }
        match self.reply_within(HELLO_PATIENCE)? {
            Some(Reply::Hello) => {
                self.has_greeted = true;
                Ok(())
            }
            Some(Reply::Ended(_) | Reply::Grown) => Err(unexpected("the shim answered before it was asked")),
            None => Err(io::Error::new(io::ErrorKind::TimedOut, "the shim did not start in 20 seconds")),
        }
    }

    /// Returns the shim's process id.
    pub fn pid(&self) -> i32 {
        self.shim.id().cast_signed()
    }

    /// Returns the epoch whose shim this is.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Hands over the next order, once the shim is known by name on disk; the one before must have been
    /// answered.
    pub fn send(&mut self, order: Order) -> io::Result<()> {
        assert!(!self.is_busy, "a shim carries out one order at a time");
        self.greet()?;
        own_children::before_order();
        self.is_busy = true;
        let Bounds { total_ms, grace_ms, pipe_ms, .. } = order.bounds;
        let longest = Duration::from_millis(total_ms.saturating_add(grace_ms).saturating_add(pipe_ms));
        self.due = Instant::now().checked_add(longest).and_then(|it| it.checked_add(ANSWER_PATIENCE));
        self.request(&Request::Order(Box::new(order)))
    }

    /// Asks for the end of the order under way; without one it does nothing.
    pub fn interrupt(&mut self, force: Force) -> io::Result<()> {
        if !self.is_busy {
            return Ok(());
        }
        self.request(&Request::Interrupt(force))?;
        // An agent can stop its shim, which then hears nothing.
        self.signal(Signal::CONT)
    }

    /// Returns how long to wait for an answer before looking whether it is overdue.
    pub fn patience(&self) -> Duration {
        self.due().map_or(Duration::MAX, |it| it.saturating_duration_since(Instant::now()))
    }

    /// A shim holds the deadlines. One that misses them itself has been stopped, most likely by its
    /// agent; it is ended, `answer` then says that it died, and what it held falls to us.
    pub fn end_if_overdue(&mut self) -> io::Result<()> {
        match self.due() {
            Some(due) if due <= Instant::now() => self.kill(),
            Some(_) | None => Ok(()),
        }
    }

    /// Ends the order under way for a controller that cannot stay: its end is in the shim's records. An error says that
    /// the shim is dead, and that what it held falls to us.
    pub fn end(&mut self) -> io::Result<()> {
        for (force, patience) in [(Force::Soft, SOFT_PATIENCE), (Force::Hard, HARD_PATIENCE)] {
            self.interrupt(force)?;
            let deadline = Instant::now() + patience;
            while self.is_busy && readable_before(self.answers.as_fd(), deadline)? {
                self.answer()?;
            }
            if !self.is_busy {
                return Ok(());
            }
        }
        self.kill()?;
        Err(io::Error::new(io::ErrorKind::TimedOut, "the shim did not end its order"))
    }

    /// Ends the shim itself.
    pub fn kill(&mut self) -> io::Result<()> {
        self.signal(Signal::KILL)
    }

    /// A dead shim is collected by the sweep that follows.
    fn forget(&mut self) {
        if let Some(id) = self.id.take() {
            own_children::forget(id);
        }
    }

    fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.is_busy)
    }

    /// Returns the answer to the order under way, or `None` when it is not there yet. `UnexpectedEof`
    /// means that the shim died: sweep, and record the call as lost.
    pub fn answer(&mut self) -> io::Result<Option<OrderEnd>> {
        loop {
            match self.reply_within(Duration::ZERO)? {
                Some(Reply::Ended(ending)) => {
                    self.is_busy = false;
                    return Ok(Some(ending));
                }
                Some(Reply::Grown) => self.has_grown = true,
                Some(Reply::Hello) => return Err(unexpected("the shim said hello twice")),
                None => return Ok(None),
            }
        }
    }

    /// Returns whether the shim has said, since this was last asked, that there is much to read.
    pub fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.has_grown)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.pidfd, signal) {
            // It is gone already, which `answer` will tell.
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn request(&mut self, request: &Request) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.orders.as_mut().expect("open until the keeper is dropped").write_all(&line)
    }

    fn reply_within(&mut self, patience: Duration) -> io::Result<Option<Reply>> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(end) = self.bytes.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if !readable_before(self.answers.as_fd(), deadline)? {
                return Ok(None);
            }
            let mut chunk = [0; 4096];
            let count = self.answers.read(&mut chunk)?;
            if count == 0 {
                self.forget();
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the shim died"));
            }
            self.bytes.extend_from_slice(&chunk[..count]);
        }
    }
}

/// Readable when `answer` has something to say.
impl AsFd for Keeper {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.answers.as_fd()
    }
}

/// The end of its orders is what makes a shim go. One that is busy with a call continues without us;
/// an idle one is awaited, so that it leaves no zombie.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.forget();
        drop(self.orders.take());
        let deadline = Instant::now() + FAREWELL_PATIENCE;
        if !self.is_busy && matches!(readable_before(self.pidfd.as_fd(), deadline), Ok(true)) {
            // A sweep may have collected it before.
            let _ = self.shim.wait();
        }
    }
}

fn readable_before(fd: BorrowedFd<'_>, deadline: Instant) -> io::Result<bool> {
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(rest).expect("our patience is seconds");
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&timeout)) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn unexpected(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
