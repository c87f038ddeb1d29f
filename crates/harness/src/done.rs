//! Commands that were started: those that continue beside the test, and what the others came to.

use crate::PATIENCE;
use crate::hints::{HintOrigin, exit_code};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::Duration;

/// What a command came to.
#[derive(Debug)]
pub struct Done {
    /// The exit status, or 1000 and the signal.
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A command that continues beside the test.
pub struct Running {
    pub child: Child,
    out: PathBuf,
    err: PathBuf,
    place: Option<HintOrigin>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Done {
    pub fn of(output: Output) -> Done {
        Done { code: exit_code(output.status), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, code, "\n--- stdout ---\n{}\n--- stderr ---\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Done {
        let said = self.out.contains(text) || self.err.contains(text);
        assert!(said, "no {text:?} in\n--- stdout ---\n{}\n--- stderr ---\n{}", self.out, self.err);
        self
    }
}

impl Running {
    /// Starts a command whose words go to files, so that nobody has to read along.
    pub(crate) fn start(
        mut command: Command,
        place: Option<HintOrigin>,
        out: PathBuf,
        err: PathBuf,
    ) -> Running {
        command.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
        Running { child: command.spawn().expect("the program"), out, err, place }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is our child");
    }

    /// Waits for the end.
    #[track_caller]
    pub fn wait(mut self) -> Done {
        assert!(self.ends_within(PATIENCE), "it hangs: {}", text(&fs::read(&self.err).unwrap_or_default()));
        let status = self.child.wait().expect("a status");
        let read = |path| text(&fs::read(path).expect("a file"));
        let done = Done { code: exit_code(status), out: read(&self.out), err: read(&self.err) };
        if let Some(place) = &self.place {
            place.follow(done.code, &done.out, &done.err);
        }
        done
    }

    /// Whether it is over, at the latest after this time.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        if self.child.try_wait().expect("a status").is_some() {
            return true;
        }
        let pidfd = pidfd_open(self.pid(), PidfdFlags::empty()).expect("it is our child");
        let timeout = Timespec::try_from(time).expect("a short time");
        matches!(poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)), Ok(1))
    }

    pub fn kill(mut self) {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("a status");
    }
}
