//! The checkout at the path of the original tree, for one command and what it starts. Editable
//! installs, workspace links and build caches hold absolute paths; where the checkout lies at that
//! path, they lead to the checkout.
//!
//! A mount namespace belongs to a process, so a helper makes it: this program again, which has one
//! thread, leaves the namespaces of its parent, mounts, and becomes the command. Root needs a mount
//! namespace only; everybody else needs a user namespace around it, in which the user stays who they
//! are. Where the kernel refuses, the helper says so and nothing is started.

use rustix::mount::{MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The word that makes this program the helper.
pub const WORD: &str = "__mount";

/// What a shell uses for a command that cannot be started, less one: nothing that is checked exits
/// with it by itself.
const REFUSED: u8 = 125;

/// What is mounted where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mounts {
    /// Mounted in this order.
    pub binds: Vec<Bind>,
    /// Where the command starts, entered after mounting.
    pub cwd: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bind {
    pub from: PathBuf,
    pub to: PathBuf,
    pub read_only: bool,
}

impl Mounts {
    /// Returns the command line that runs `argv` behind these mounts, which are read from `file`.
    pub fn wrap(file: &Path, argv: &[&str]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["/proc/self/exe".into(), WORD.into(), file.into()];
        words.extend(argv.iter().map(OsString::from));
        words
    }
}

/// Is the helper: mounts what the file says and becomes the command. Returns only if it cannot.
pub fn become_command(file: &Path, argv: &[OsString]) -> ExitCode {
    let error = match enter(file) {
        Ok(cwd) => match argv.split_first() {
            Some((program, rest)) => {
                let error = Command::new(program).args(rest).current_dir(cwd).exec();
                format!("{} cannot be started: {error}", program.display())
            }
            None => "no command was given".to_owned(),
        },
        Err(error) => format!("the checkout cannot be mounted at the path of the original: {error}"),
    };
    eprintln!("loop: {error}");
    ExitCode::from(REFUSED)
}

fn enter(file: &Path) -> io::Result<PathBuf> {
    let mounts: Mounts = serde_json::from_slice(&fs::read(file)?)?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if user != 0 || leave(UnshareFlags::NEWNS).is_err() {
        leave(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What is mounted from here on is seen by nobody else.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    for Bind { from, to, read_only } in &mounts.binds {
        let failed = |error: rustix::io::Errno| {
            io::Error::other(format!("{} at {}: {error}", from.display(), to.display()))
        };
        mount_bind_recursive(from, to).map_err(failed)?;
        if *read_only {
            remount_read_only(to).map_err(failed)?;
        }
    }
    Ok(mounts.cwd)
}

/// In a user namespace the flags that a mount has must be kept, so they are read first.
fn remount_read_only(path: &Path) -> rustix::io::Result<()> {
    let found = rustix::fs::statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    let kept = [
        (rustix::fs::StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (rustix::fs::StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (rustix::fs::StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (rustix::fs::StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (rustix::fs::StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (rustix::fs::StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    for (has, flag) in kept {
        if found.contains(has) {
            flags |= flag;
        }
    }
    mount_remount(path, flags, "")
}

#[expect(deprecated, reason = "its successor is unsafe for flags that this never passes")]
fn leave(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}
