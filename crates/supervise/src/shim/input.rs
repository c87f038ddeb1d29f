//! The shim's end of the pipe from its controller: lines as they come, without waiting. End of file
//! means that the controller is dead.

use crate::records::protocol::{Force, Order, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::collections::VecDeque;

/// A prompt is at most some megabytes; a longer line is no order of ours.
const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// What is kept between two lines; a prompt's worth of memory is given back.
const KEPT_BYTES: usize = 64 * 1024;

/// What the controller has asked for and nobody has taken yet.
pub(crate) struct Requests {
    pipe: OwnedFd,
    is_open: bool,
    bytes: Vec<u8>,
    waiting: VecDeque<Request>,
}

impl Requests {
    pub(crate) fn new(pipe: OwnedFd) -> Requests {
        Requests { pipe, is_open: true, bytes: Vec::new(), waiting: VecDeque::new() }
    }

    /// Returns whether there is a controller, as far as has been read.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads what is there; blocks when nothing is. A controller that is gone and one that talks
    /// nonsense come to the same: there is nobody to take orders from.
    pub(crate) fn read(&mut self) {
        let mut chunk = [0; 16 * 1024];
        self.is_open = match rustix::io::read(&self.pipe, &mut chunk) {
            Ok(count) => count > 0 && self.split(&chunk[..count]),
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(_) => false,
        };
    }

    /// Learns whether the controller has gone, without waiting.
    pub(crate) fn look(&mut self) {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        while self.is_open
            && matches!(poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&at_once)), Ok(1))
        {
            self.read();
        }
    }

    /// Waits for the next order; `None` when there will be none. What asks to interrupt a call that
    /// has ended meanwhile is dropped.
    pub(crate) fn next_order(&mut self) -> Option<Order> {
        loop {
            match self.waiting.pop_front() {
                Some(Request::Order(order)) => return Some(*order),
                Some(Request::Interrupt(_)) => {}
                None if self.is_open => self.read(),
                None => return None,
            }
        }
    }

    /// Returns what interrupts the call under way. What stands behind an order belongs to that.
    pub(crate) fn interrupt(&mut self) -> Option<Force> {
        match self.waiting.front()? {
            Request::Interrupt(force) => {
                let force = *force;
                self.waiting.pop_front();
                Some(force)
            }
            Request::Order(_) => None,
        }
    }

    /// Takes whole lines out of the bytes; false when they are no requests.
    fn split(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(end) = bytes.iter().position(|it| *it == b'\n') {
            self.bytes.extend_from_slice(&bytes[..end]);
            let Ok(request) = serde_json::from_slice(&self.bytes) else { return false };
            self.waiting.push_back(request);
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
            bytes = &bytes[end + 1..];
        }
        self.bytes.extend_from_slice(bytes);
        self.bytes.len() <= LINE_LIMIT
    }
}
