//! A named pipe between a test and an agent: the one waits for the other without sleeping.

use crate::PATIENCE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use std::path::Path;

pub struct Fifo(OwnedFd);

impl Fifo {
    /// Makes the pipe. Both ends are held open here, so nobody blocks in opening it.
    pub fn new(path: &Path) -> Fifo {
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).expect("a fifo");
        Fifo(open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).expect("both ends"))
    }

    /// Lets one reader continue.
    pub fn say(&self) {
        rustix::io::write(&self.0, b"go\n").expect("room for a word");
    }

    /// Waits for a line from the other side and returns it.
    pub fn hear(&self) -> String {
        let mut line = Vec::new();
        loop {
            let timeout = Timespec::try_from(PATIENCE).expect("a short time");
            let ready = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)).expect("a poll");
            assert!(ready == 1, "nobody wrote into the pipe for {PATIENCE:?}");
            let mut byte = [0];
            rustix::io::read(&self.0, &mut byte).expect("a byte");
            if byte[0] == b'\n' {
                return String::from_utf8(line).expect("text");
            }
            line.push(byte[0]);
        }
    }
}
