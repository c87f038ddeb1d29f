//! Who a process is: pid, start time and boot. Pids are reused and machines restart, so a pid that
//! was written down is never signalled; it is turned into a pidfd that is proven to be the same
//! process, and the pidfd is signalled. Identities are written atomically and durably.

use super::temp_dir::Scratch;
use crate::process::proc_stat::{Stat, boot_id};
use loop_base::files::ours;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One process, forever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub pid: i32,
    pub start: u64,
    pub boot: String,
    /// What whoever finds it dead has to clear up.
    #[serde(default)]
    pub belongings: Belongings,
}

/// What a shim has beside its call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Belongings {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scratch: Option<Scratch>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cgroup: Option<PathBuf>,
    /// What this shim has to do without, and why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub without: Vec<String>,
}

impl Identity {
    /// Returns the identity of this process.
    pub fn mine() -> io::Result<Identity> {
        let pid = getpid().as_raw_nonzero().get();
        let stat = Stat::read(pid)?.ok_or_else(|| io::Error::other("/proc does not show this process"))?;
        Ok(Identity { pid, start: stat.start, boot: boot_id()?, belongings: Belongings::default() })
    }

    /// Returns a pidfd for exactly this process, or `None` when it is gone.
    pub fn open(&self) -> io::Result<Option<OwnedFd>> {
        if !self.is_of_this_boot()? {
            return Ok(None);
        }
        // The file may be forged or damaged, and a negative pid would mean a group.
        let Some(pid) = Pid::from_raw(self.pid.max(0)) else { return Ok(None) };
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            // EINVAL: the pid belongs to a thread of somebody, so our process is gone.
            Err(Errno::SRCH | Errno::INVAL) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // First the pidfd, then the start time: a pid reused after this comparison cannot be what
        // the pidfd means.
        let alive = Stat::read(self.pid)?.is_some_and(|it| it.start == self.start && !it.is_dead());
        Ok(alive.then_some(pidfd))
    }

    /// The same, if that process is a shim at all: whoever can write to the run's folder could name
    /// anybody there.
    pub(crate) fn open_shim(&self) -> io::Result<Option<OwnedFd>> {
        let Some(pidfd) = self.open()? else { return Ok(None) };
        let words = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        Ok(words.split(|it| *it == 0).any(|it| it == b"__shim").then_some(pidfd))
    }

    /// Returns whether the machine has run without interruption since this identity was taken.
    pub(crate) fn is_of_this_boot(&self) -> io::Result<bool> {
        Ok(self.boot == boot_id()?)
    }

    /// Writes the identity of the shim of this epoch. It is on disk before any call can be claimed:
    /// after a power cut a missing file proves that the epoch started nothing.
    pub fn write(&self, run_dir: &Path, epoch: u64) -> io::Result<()> {
        let unfinished = run_dir.join(format!("shim-{epoch}.tmp"));
        let mut file = ours().write(true).create(true).truncate(true).open(&unfinished)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_data()?;
        fs::rename(&unfinished, path(run_dir, epoch))?;
        File::open(run_dir)?.sync_all()
    }

    /// Reads the identity of the shim of this epoch; `None` when there never was one.
    pub fn read(run_dir: &Path, epoch: u64) -> io::Result<Option<Identity>> {
        match loop_base::files::read(&path(run_dir, epoch), IDENTITY_MOST) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the epochs that have a shim's identity in this folder. The number of an epoch may be any: it stands in the
/// list of runs, where others can write.
pub(crate) fn epochs(run_dir: &Path) -> Vec<u64> {
    let names = fs::read_dir(run_dir).into_iter().flatten().flatten().map(|it| it.file_name());
    names.filter_map(|it| it.to_str()?.strip_prefix("shim-")?.parse().ok()).collect()
}

/// A few paths and numbers; a longer text is not ours.
const IDENTITY_MOST: usize = 64 << 10;

/// One name for all epochs would not do: a late shim of a dead controller would overwrite the name
/// of its successor.
fn path(run_dir: &Path, epoch: u64) -> PathBuf {
    run_dir.join(format!("shim-{epoch}"))
}

#[cfg(test)]
mod tests {
    use super::Identity;
    use std::process::{Command, Stdio};

    #[test]
    fn opens_only_the_very_process() {
        let mine = Identity::mine().expect("an identity");
        assert!(mine.open().expect("readable").is_some());
        let reused = Identity { start: mine.start + 1, ..mine.clone() };
        assert!(reused.open().expect("readable").is_none());
        let rebooted = Identity { boot: "another".to_owned(), ..mine.clone() };
        assert!(rebooted.open().expect("readable").is_none());
        for pid in [0, -1, i32::MAX] {
            assert!(Identity { pid, ..mine.clone() }.open().expect("readable").is_none(), "{pid}");
        }
    }

    #[test]
    fn the_dead_are_gone_before_they_are_collected() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
        let pid = i32::try_from(child.id()).expect("a pid");
        let stat = super::Stat::read(pid).expect("readable").expect("alive");
        let identity = Identity { pid, start: stat.start, ..Identity::mine().expect("an identity") };
        let pidfd = identity.open().expect("readable").expect("alive");
        drop(child.stdin.take());
        let mut ended = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut ended, None).expect("ended");
        assert!(identity.open().expect("readable").is_none());
        child.wait().expect("collected");
        assert!(identity.open().expect("readable").is_none());
    }

    #[test]
    fn is_kept_per_epoch() {
        let dir = tempfile::tempdir().expect("a folder");
        let mine = Identity::mine().expect("an identity");
        mine.write(dir.path(), 3).expect("written");
        assert_eq!(Identity::read(dir.path(), 3).expect("read"), Some(mine));
        assert_eq!(Identity::read(dir.path(), 4).expect("read"), None);
    }
}
