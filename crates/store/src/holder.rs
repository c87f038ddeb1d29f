//! A process that holds something, as lock files name it.

use loop_base::secret::redact;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

/// A process, named so that a recycled pid or another boot is not taken for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: i32,
    /// Ticks after boot at which it started; 0 where the system does not say.
    pub start: u64,
    /// The boot's id; empty where the system does not say.
    pub boot: String,
    pub command: String,
}

/// The part of a command line that is kept: enough to recognise it in a message.
const COMMAND_CHARS: usize = 200;

impl Holder {
    /// Returns this process, which is looked up once: a run, its tree and its epoch are all taken in
    /// its name.
    pub fn this_process() -> Holder {
        static THIS: OnceLock<Holder> = OnceLock::new();
        THIS.get_or_init(Holder::look_up).clone()
    }

    fn look_up() -> Holder {
        let words: Vec<String> =
            std::env::args_os().map(|word| as_typed(&word.to_string_lossy()).to_owned()).collect();
        let pid = std::process::id() as i32;
        Holder {
            pid,
            start: start_of(pid).unwrap_or(0),
            boot: boot_id(),
            command: redact(&words.join(" ")).chars().take(COMMAND_CHARS).collect(),
        }
    }

    /// Returns the process that has this pid.
    pub fn with_pid(pid: i32) -> Option<Holder> {
        let raw = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&raw).replace('\0', " ");
        Some(Holder {
            pid,
            start: start_of(pid)?,
            boot: boot_id(),
            command: redact(command.trim()).chars().take(COMMAND_CHARS).collect(),
        })
    }

    /// Returns who holds a lock of this kind (`FLOCK`, `POSIX`) on a file, of which only the kernel knows. The file is
    /// not opened for that: closing it again would let go of the locks that SQLite has on it in this process.
    pub(crate) fn of_lock(path: &Path, kind: &str) -> Option<Holder> {
        let inode = format!(":{}", std::fs::metadata(path).ok()?.ino());
        let list = std::fs::read_to_string("/proc/locks").ok()?;
        let pid = list.lines().find_map(|line| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let is_it = words.get(1) == Some(&kind)
                && words.get(3) == Some(&"WRITE")
                && words.get(5).is_some_and(|place| place.ends_with(&inode));
            if is_it { words.get(4)?.parse::<i32>().ok() } else { None }
        })?;
        Holder::with_pid(pid)
    }

    /// Returns which command of ours it is, as far as its words tell.
    pub fn subcommand(&self) -> Option<&str> {
        subcommands(self.command.split(' ').skip(1)).next()
    }

    /// Whether it runs a program of our name, as far as may be seen: others can lock what is ours too.
    pub fn is_loop(&self) -> bool {
        let name = |process: &str| {
            let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
            Some(program.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned())
        };
        let theirs = name(&self.pid.to_string());
        theirs.is_none() || theirs == name("self")
    }

    /// Whether exactly this process is alive.
    pub fn is_alive(&self) -> bool {
        let exists =
            Pid::from_raw(self.pid).is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH)));
        exists
            && self.boot == boot_id()
            && !is_zombie(self.pid)
            && start_of(self.pid).unwrap_or(0) == self.start
    }
}

/// What a pool in the background is started with, in place of what a person types.
pub const DETACHED_POOL: &str = "--pool-without-terminal";

/// Returns a word of our command line as a person types it: what we start without a terminal has words of its own.
pub fn as_typed(word: &str) -> &str {
    match word {
        "/proc/self/exe" => "loop",
        DETACHED_POOL => "--detach",
        typed => typed,
    }
}

/// The options of every command that have a value in the word behind them.
pub const OPTIONS_WITH_VALUE: [&str; 4] = ["--dir", "--home", "--run", "-C"];

/// Returns the words of a command line of ours that may name a command: those that are neither an option of every
/// command nor the value of one. The first is the command.
pub fn subcommands<'a>(mut words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            if OPTIONS_WITH_VALUE.contains(&word) {
                words.next();
            } else if !word.starts_with('-') {
                return Some(word);
            }
        }
    })
}

impl std::fmt::Display for Holder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What a detached controller is started with is our own business, and long.
        if self.command.contains(" __controller ") {
            return write!(out, "pid {} (detached)", self.pid);
        }
        // A command line is whatever somebody typed; control characters stay out of terminals.
        let command: String = self.command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(out, "pid {} ({command})", self.pid)
    }
}

/// The 22nd field of `/proc/PID/stat`.
fn start_of(pid: i32) -> Option<u64> {
    stat_field(pid, 22)?.parse().ok()
}

/// A process that is dead and not yet waited for has a pid and a start time, and holds no lock.
fn is_zombie(pid: i32) -> bool {
    stat_field(pid, 3).is_some_and(|state| state == "Z" || state == "X")
}

/// Fields are counted after the second, the command's name, which may contain anything.
fn stat_field(pid: i32, number: usize) -> Option<String> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[after_name + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(number - 3).map(str::to_owned)
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Holder;

    #[test]
    fn the_command_is_the_first_word_that_is_no_option() {
        let of = |command: &str| {
            let holder = Holder { pid: 1, start: 0, boot: String::new(), command: command.to_owned() };
            holder.subcommand().map(str::to_owned)
        };
        assert_eq!(of("loop ship --no-pr").as_deref(), Some("ship"));
        assert_eq!(of("/bin/loop -C /a --home /b -v ship").as_deref(), Some("ship"));
        assert_eq!(of("loop run ship it").as_deref(), Some("run"));
        assert_eq!(of("loop"), None);
    }
}
