//! Who a command comes from: this process and everything above it, as the kernel knows them. It tells
//! whether the command comes out of an agent call: by the mark in an environment, by a shim above us,
//! by the control group of a run, or, where shim and controller are dead and everything else was
//! cleared, by the session that the shim once led. What was started by a program that stands outside
//! of the call (a tmux server, cron, at) cannot be told from a person's own command.
//!
//! A call can mount something else over `/proc` or over files in it. What is read here is the kernel's, or
//! the line says that nobody can tell.

use crate::contain::identity::Identity;
use crate::process::proc_stat::{self, Stat, boot_id};
use crate::process::run_mark::RUN_MARK;
use rustix::fs::{Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags};
use rustix::io::Errno;
use rustix::process::getpid;
use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The variable beside the mark whose value lies in the run's folder.
const RESULT: &[u8] = b"LOOP_RESULT_FILE=";

/// What the kernel calls the PID namespace that it began with.
const MACHINE_NAMESPACE: &[u8] = b"pid:[4026531836]";

/// Nobody nests deeper; a list that continues was read while pids were reused.
const LINE_MOST: usize = 256;

/// This process and its ancestors, the nearest first.
#[derive(Clone, Debug, Default)]
pub struct ProcessLine {
    ancestors: Vec<Ancestor>,
    boot: String,
    /// The run whose call this is.
    call: Option<String>,
    /// The folder of that run, where the call itself tells it.
    folder: Option<PathBuf>,
    /// What the kernel says about processes cannot be read here.
    is_hidden: bool,
    /// Every process of the machine can be seen from here.
    sees_all: bool,
    /// The parent of the last ancestor, where it may not be seen: some machines show people only those of
    /// their processes that may be looked into, and a shim may not.
    unseen_parent: Option<i32>,
}

#[derive(Clone, Debug)]
struct Ancestor {
    pid: i32,
    start: u64,
    session: i32,
    /// A shell that was started for one command: `sh -c`.
    is_shell_command: bool,
}

impl ProcessLine {
    /// Looks at this process and everything above it. `marked` is what our own environment says.
    pub fn look(marked: Option<String>) -> ProcessLine {
        let mut line = ProcessLine { boot: boot_id().unwrap_or_default(), ..ProcessLine::default() };
        let kernel = KernelProcesses::open();
        let group = kernel.read("self/cgroup").unwrap_or_default();
        let (mut of_shim, mut of_mark) = (None, None);
        let mut pid = getpid().as_raw_nonzero().get();
        while line.ancestors.len() < LINE_MOST {
            let Some(stat) = kernel.stat(pid) else {
                line.unseen_parent = (!line.ancestors.is_empty()).then_some(pid);
                break;
            };
            let listed = |name: &str| kernel.read(&format!("{pid}/{name}")).unwrap_or_default();
            let words = listed("cmdline");
            let words: Vec<&[u8]> = words.split(|it| *it == 0).collect();
            let (shim, environment) = (shim_of(&words), listed("environ"));
            let named = shim.as_deref().and_then(Path::file_name).map(OsStr::to_string_lossy);
            of_shim = of_shim.or(named.map(String::from));
            of_mark = of_mark.or_else(|| mark_in(&environment));
            line.folder = shim.or(line.folder).or_else(|| folder_in(&environment));
            let is_shell_command = words.get(1) == Some(&&b"-c"[..]);
            line.ancestors.push(Ancestor { pid, start: stat.start, session: stat.session, is_shell_command });
            if stat.parent == 0 {
                break;
            }
            pid = stat.parent;
        }
        // A mark is whatever somebody wrote there; shims and control groups are ours.
        let group = in_group(&String::from_utf8_lossy(&group));
        line.call = of_shim.or(group).or(marked).or(of_mark);
        line.is_hidden = kernel.is_hidden();
        line.sees_all = kernel.is_of_machine();
        line
    }

    /// A line that is inside the call of this run.
    pub fn inside(run: &str) -> ProcessLine {
        ProcessLine { call: Some(run.to_owned()), ..ProcessLine::default() }
    }

    /// Returns whether something else stands in place of what the kernel says about processes, so that
    /// nobody can tell who this command comes from.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Returns whether this is the machine's own PID namespace: nobody is out of sight from here.
    pub fn sees_all(&self) -> bool {
        self.sees_all
    }

    /// Returns the run whose agent call this process belongs to.
    pub fn call(&self) -> Option<&str> {
        self.call.as_deref()
    }

    /// Returns the folder of that run, where the call tells it. The home that a command names may be
    /// another one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the run, of all whose folders lie here, that this process outlived a call of, or is in a call
    /// of that cannot be seen.
    pub fn outlived_call(&self, runs: &Path) -> Option<String> {
        // A person's session has a leader, and most homes have many runs.
        let is_led = |it: &Ancestor| matches!(Stat::read(it.session), Ok(Some(it)) if it.state != 'Z');
        if self.unseen_parent.is_none() && self.ancestors.iter().all(is_led) {
            return None;
        }
        let folders = fs::read_dir(runs).into_iter().flatten().flatten();
        folders
            .map(|it| it.path())
            .find(|it| self.is_of_dead_shim(it))?
            .file_name()?
            .to_str()
            .map(str::to_owned)
    }

    /// Returns whether this process comes from a shim of the run with this folder: it is in the session
    /// that the shim led. The pid of a session's leader is not used again while the session has members.
    fn is_of_dead_shim(&self, run_dir: &Path) -> bool {
        let names = fs::read_dir(run_dir).into_iter().flatten().flatten().map(|it| it.file_name());
        let epochs = names.filter_map(|it| it.to_str()?.strip_prefix("shim-")?.parse().ok());
        epochs.filter_map(|it| Identity::read(run_dir, it).ok()?).any(|shim| self.is_in_session_of(&shim))
    }

    fn is_in_session_of(&self, shim: &Identity) -> bool {
        if shim.boot == self.boot && self.unseen_parent == Some(shim.pid) {
            return true;
        }
        let is_member = self.ancestors.iter().any(|it| it.session == shim.pid && shim.start <= it.start);
        let leader = Stat::read(shim.pid).ok().flatten();
        shim.boot == self.boot && is_member && leader.is_none_or(|it| it.start == shim.start)
    }

    /// Returns whether this process stands below that one.
    pub fn descends_from(&self, pid: i32, start: u64, boot: &str) -> bool {
        self.boot == boot && self.ancestors.iter().any(|it| it.pid == pid && it.start == start)
    }

    /// Returns whether that process is above this one, and not this one itself.
    pub fn stands_below(&self, pid: i32, start: u64, boot: &str) -> bool {
        self.ancestors.first().is_some_and(|it| it.pid != pid) && self.descends_from(pid, start, boot)
    }

    /// Returns pid, start time and boot of whoever called this command: the nearest process above us
    /// that is not a shell started for this one command.
    pub fn caller(&self) -> Option<(i32, u64, String)> {
        let above = self.ancestors.iter().skip(1).find(|it| !it.is_shell_command)?;
        Some((above.pid, above.start, self.boot.clone()))
    }
}

/// What the kernel says about processes, and nobody else.
struct KernelProcesses {
    folder: Option<OwnedFd>,
    is_covered: Cell<bool>,
}

impl KernelProcesses {
    fn open() -> KernelProcesses {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open("/proc", flags, Mode::empty()).ok().filter(|it| {
            // A file system of that kind that shows other processes has no such link for us.
            let own = rustix::fs::readlinkat(it, "self", Vec::new());
            let is_own = own.is_ok_and(|it| it.to_bytes() == getpid().to_string().as_bytes());
            rustix::fs::fstatfs(it).is_ok_and(|it| it.f_type == PROC_SUPER_MAGIC) && is_own
        });
        KernelProcesses { folder, is_covered: Cell::new(false) }
    }

    /// Reads a file that no mount covers.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let folder = self.folder.as_ref()?;
        let name = match name.strip_prefix("self/") {
            Some(rest) => format!("{}/{rest}", getpid()),
            None => name.to_owned(),
        };
        let (flags, inside) =
            (OFlags::RDONLY | OFlags::CLOEXEC, ResolveFlags::NO_XDEV | ResolveFlags::BENEATH);
        let file = match rustix::fs::openat2(folder, &name, flags, Mode::empty(), inside) {
            Ok(file) => file,
            Err(Errno::XDEV) => {
                self.is_covered.set(true);
                return None;
            }
            // Kernels before 5.6, and filters that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                rustix::fs::openat(folder, &name, flags, Mode::empty()).ok()?
            }
            Err(_) => return None,
        };
        let mut bytes = Vec::new();
        fs::File::from(file).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn stat(&self, pid: i32) -> Option<Stat> {
        let bytes = self.read(&format!("{pid}/stat"))?;
        proc_stat::parse(&String::from_utf8_lossy(&bytes), rustix::param::clock_ticks_per_second())
    }

    fn is_of_machine(&self) -> bool {
        let link = |it: &OwnedFd| rustix::fs::readlinkat(it, format!("{}/ns/pid", getpid()), Vec::new()).ok();
        self.folder.as_ref().and_then(link).is_some_and(|it| it.to_bytes() == MACHINE_NAMESPACE)
    }

    fn is_hidden(&self) -> bool {
        self.folder.is_none() || self.is_covered.get()
    }
}

/// `loop __shim FOLDER EPOCH`, where the folder is called like its run.
fn shim_of(words: &[&[u8]]) -> Option<PathBuf> {
    let [_, b"__shim", folder, ..] = words else { return None };
    Some(PathBuf::from(OsStr::from_bytes(folder)))
}

fn folder_in(environment: &[u8]) -> Option<PathBuf> {
    let file = environment.split(|it| *it == 0).find_map(|it| it.strip_prefix(RESULT))?;
    Path::new(OsStr::from_bytes(file)).parent().map(Path::to_owned)
}

fn mark_in(environment: &[u8]) -> Option<String> {
    let value = |it: &[u8]| it.strip_prefix(RUN_MARK.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec);
    let marked = environment.split(|it| *it == 0).find_map(value)?;
    Some(String::from_utf8_lossy(&marked).into_owned())
}

/// Every control group of ours is called `loop-RUN-EPOCH`; an agent may have made others below it.
fn in_group(groups: &str) -> Option<String> {
    let path = groups.lines().find_map(|it| it.strip_prefix("0::"))?;
    path.split('/').find_map(|it| {
        let (run, epoch) = it.strip_prefix("loop-")?.rsplit_once('-')?;
        let is_run = run.len() == 36 && run.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
        (is_run && epoch.bytes().all(|it| it.is_ascii_digit())).then(|| run.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{Identity, ProcessLine, folder_in, in_group, mark_in, shim_of};
    use std::path::Path;

    #[test]
    fn marks_shims_and_groups_name_their_run() {
        assert_eq!(mark_in(b"A=1\0LOOP_RUN=abc\0B=2"), Some("abc".to_owned()));
        assert_eq!(mark_in(b"XLOOP_RUN=abc"), None);
        let shim = shim_of(&[b"/proc/self/exe", b"__shim", b"/h/runs/abc", b"3"]);
        assert_eq!(shim.as_deref(), Some(Path::new("/h/runs/abc")));
        let result = folder_in(b"A=1\0LOOP_RESULT_FILE=/h/runs/abc/call-1.result");
        assert_eq!(result.as_deref(), Some(Path::new("/h/runs/abc")));
        assert_eq!(shim_of(&[b"grep", b"x", b"__shim"]), None);
        let run = "1f3e5a7b-0000-4000-8000-000000000000";
        assert_eq!(in_group(&format!("0::/user.slice/loop-{run}-12/agent\n")), Some(run.to_owned()));
        assert_eq!(in_group("0::/user.slice/loop-device-7\n"), None);
    }

    /// Another folder in place of what the kernel says is noticed.
    #[test]
    fn this_process_can_be_seen() {
        assert!(!ProcessLine::look(None).is_hidden());
        let none = super::KernelProcesses { folder: None, is_covered: false.into() };
        assert!(none.is_hidden() && none.stat(1).is_none());
    }

    #[test]
    fn this_process_descends_from_itself_and_its_parent_and_nobody_else() {
        let line = ProcessLine::look(None);
        let mine = Identity::mine().expect("an identity");
        assert!(line.descends_from(mine.pid, mine.start, &mine.boot));
        assert!(!line.descends_from(mine.pid, mine.start + 1, &mine.boot));
        assert!(!line.descends_from(mine.pid, mine.start, "another boot"));
        let (pid, start, boot) = line.caller().expect("somebody started the tests");
        assert!(line.descends_from(pid, start, &boot));
    }

    #[test]
    fn a_member_of_a_shims_session_is_known_by_the_shims_identity() {
        let dir = tempfile::tempdir().expect("a folder");
        let line = ProcessLine::look(None);
        let mine = Identity::mine().expect("an identity");
        let session = super::Stat::read(mine.pid).expect("readable").expect("alive").session;
        let leader = super::Stat::read(session).expect("readable");
        let start = leader.map_or(0, |it| it.start);
        let shim = Identity { pid: session, start, ..mine };
        assert!(!line.is_of_dead_shim(dir.path()));
        shim.write(dir.path(), 3).expect("written");
        assert!(line.is_of_dead_shim(dir.path()));
        let unseen =
            ProcessLine { unseen_parent: Some(session), boot: shim.boot.clone(), ..ProcessLine::default() };
        assert!(unseen.is_of_dead_shim(dir.path()));
        Identity { boot: "another".to_owned(), ..shim }.write(dir.path(), 3).expect("written");
        assert!(!line.is_of_dead_shim(dir.path()));
    }
}
