//! A pseudo-terminal with a program in it, and an emulator that reads what the program draws.

use crate::PATIENCE;
use crate::hints::exit_code;
use regex_lite::Regex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::num::NonZero;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Rows of a terminal from which nothing scrolls away.
const TALL: u16 = 400;

pub struct Terminal {
    master: OwnedFd,
    /// Held so that what the program set can be read after its end.
    slave: Option<OwnedFd>,
    child: Child,
    parser: vt100::Parser,
    /// Everything that was ever written.
    pub raw: Vec<u8>,
}

impl Terminal {
    /// Starts a command in a terminal of so many rows and columns; it is the command's own.
    pub fn start(command: &Command, rows: u16, columns: u16) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pty");
        grantpt(&master).expect("a grant");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(&*name, flags, Mode::empty()).expect("the other end");
        tcsetwinsize(&slave, window(rows, columns)).expect("a size");
        let end = || slave.try_clone().expect("another end");
        // It makes the terminal the controlling one of a new session, as a shell would.
        let mut inside = Command::new("setsid");
        inside.arg("-c").arg(command.get_program()).args(command.get_args());
        inside.env_clear().env("TERM", "xterm-256color");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside.current_dir(command.get_current_dir().expect("a folder"));
        inside.stdin(end()).stdout(end()).stderr(end());
        let child = inside.spawn().expect("setsid, of util-linux");
        drop(inside);
        let parser = vt100::Parser::new(cells(rows), cells(columns), 1000);
        Terminal { master, slave: Some(slave), child, parser, raw: Vec::new() }
    }

    /// Reads until the screen shows this text.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> &mut Terminal {
        self.until_so(text, |screen| screen.contains(text))
    }

    /// Reads until the screen, without its line ends, is so.
    #[track_caller]
    pub fn until_so(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> &mut Terminal {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&self.parser.screen().contents()) {
            let more = self.read(deadline);
            assert!(more, "no {what:?} on the screen:\n{}", self.rows());
        }
        self
    }

    /// Types, as a person would.
    pub fn types(&mut self, keys: &str) -> &mut Terminal {
        rustix::io::write(&self.master, keys.as_bytes()).expect("room for keys");
        self
    }

    pub fn resize(&mut self, rows: u16, columns: u16) -> &mut Terminal {
        tcsetwinsize(&self.master, window(rows, columns)).expect("a size");
        self.parser.screen_mut().set_size(cells(rows), cells(columns));
        self
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether the terminal echoes and waits for whole lines, as programs expect to find it.
    pub fn is_as_before(&self) -> bool {
        let modes = tcgetattr(self.slave.as_ref().expect("open")).expect("modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Reads to the end and compares the exit status.
    #[track_caller]
    pub fn exits(&mut self, code: i32) -> &mut Terminal {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                break status;
            }
            let step = Instant::now() + Duration::from_millis(50);
            self.read(step.min(deadline));
            assert!(Instant::now() < deadline, "it does not end:\n{}", self.rows());
        };
        while self.read(Instant::now()) {}
        let found = exit_code(status);
        assert_eq!(found, code, "\n{}", self.rows());
        self
    }

    /// The terminal is closed under the program's feet.
    pub fn hang_up(mut self) {
        self.slave = None;
        self.child.wait().expect("a status");
    }

    /// Compares what was said for good, whether it is still on the screen or not.
    #[track_caller]
    pub fn said(&mut self, text: &str) -> &mut Terminal {
        let mut tall = vt100::Parser::new(cells(TALL), self.parser.screen().size().1, 0);
        tall.process(&self.raw);
        let said = tall.screen().contents();
        assert!(said.contains(text), "no {text:?} in:\n{said}");
        self
    }

    /// The rows of the screen as they are seen, with what changes from run to run replaced.
    pub fn screen(&self) -> String {
        steady(&self.rows())
    }

    /// Everything that was shown and has scrolled away, too.
    pub fn everything(&self) -> String {
        let mut tall = vt100::Parser::new(cells(TALL), self.parser.screen().size().1, 0);
        tall.process(&self.raw);
        steady(&seen(tall.screen()))
    }

    fn rows(&self) -> String {
        seen(self.parser.screen())
    }

    /// Takes what there is, waiting until the deadline; says whether there was anything.
    fn read(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).expect("a short time");
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(&timeout)), Ok(1)) {
            return false;
        }
        let mut bytes = [0; 4096];
        // A terminal that nobody has open any more is an error to read from.
        let Ok(count @ 1..) = rustix::io::read(&self.master, &mut bytes[..]) else { return false };
        self.raw.extend_from_slice(&bytes[..count]);
        self.parser.process(&bytes[..count]);
        true
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _may_be_gone = kill_process(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn window(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has cells")
}

fn seen(screen: &vt100::Screen) -> String {
    let rows: Vec<String> =
        screen.rows(0, screen.size().1.get()).map(|it| it.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

/// Replaces what is another each time by something of the same length where that could matter.
pub fn steady(text: &str) -> String {
    let replaced = [
        (r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "*"),
        (r"(run:?) [0-9a-f]{8}", "$1 00000000"),
        (r"DESIGN-\d{8}-\d{6}", "DESIGN-00000000-000000"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "0000-00-00T00:00:00Z"),
        (r"[0-9a-f]{7}\.\.[0-9a-f]{7}", "0000000..0000000"),
        (r"loop-demo-[0-9a-f-]+", "loop-demo-ID"),
        (r"(?m)^- [0-9a-f]{7} ", "- COMMIT "),
        (r"pid \d+", "pid N"),
        (r"\b(\d+h )?\d+m( \d\ds)?\b|\b\d+s\b|\b\d+(\.\d)? s\b", "TIME"),
        // Said only where a proof is long enough, which depends on the machine.
        (r"; about TIME to go", ""),
    ];
    let mut text = text.to_owned();
    for (pattern, by) in replaced {
        text = Regex::new(pattern).expect("a pattern").replace_all(&text, by).into_owned();
    }
    text
}
