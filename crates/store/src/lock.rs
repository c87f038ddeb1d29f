//! Kernel locks: one controller for each run and for each working tree. The kernel drops a lock with
//! its holder, however that one dies, so a lock is never stale and never needs to be stolen. What a
//! lock file says about its holder is for messages and for asking whether an owner lives; it never
//! decides who may work.

use super::error::{Locked, StoreError};
use super::holder::Holder;
use super::home::{Home, private_folder};
use super::turn::{self, HeldTurn};
use loop_base::files::{self, ours};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, flock, inotify};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The lock of one run; dropping it gives the run free.
#[derive(Debug)]
pub(super) struct RunLock {
    _file: NamedLock,
}

const RUN_LOCK: &str = "lock";

impl RunLock {
    pub(super) fn take(home: &Home, run: &str) -> Result<RunLock, StoreError> {
        let folder = home.folder(run);
        private_folder(&folder)?;
        let short = run.get(..8).unwrap_or(run);
        take_file(&folder.join(RUN_LOCK), || Locked::Run(short.to_owned()))
            .map(|file| RunLock { _file: file })
    }
}

impl Home {
    /// The live controller of a run, without touching its lock: taking it only to look would make a
    /// controller that starts at this moment believe that it is held.
    pub fn holder(&self, run: &str) -> Option<Holder> {
        written_in(&File::open(self.folder(run).join(RUN_LOCK)).ok()?).filter(Holder::is_alive)
    }
}

/// The lock of one working tree.
///
/// The lock is on the tree's directory itself: that is one thing for every home and every user, it
/// leaves no file in a repository, an agent cannot delete it and keep the tree, and it works without
/// git. A second lock, in the home and named after the path, carries the holder's name, covers file
/// systems that cannot lock a directory (NFS), and a tree that was removed and made again under the
/// same path.
#[derive(Debug)]
pub struct TreeLock {
    directory: File,
    _named: NamedLock,
}

impl TreeLock {
    /// Takes the tree. `home` is the home's path; `tree` must exist.
    pub fn take(home: &Path, tree: &Path) -> Result<TreeLock, StoreError> {
        let failed = |error: std::io::Error| StoreError::file(tree, &error);
        let real = tree.canonicalize().map_err(failed)?;
        let what = || Locked::Tree(real.clone());
        let folder = home.join("trees");
        private_folder(&folder)?;
        let digest = Sha256::digest(real.as_os_str().as_encoded_bytes());
        let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let named = take_file(&folder.join(format!("{name}.lock")), what)?;
        let directory = File::open(&real).map_err(failed)?;
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) | Err(Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP) => {
                Ok(TreeLock { directory, _named: named })
            }
            Err(Errno::WOULDBLOCK) => {
                Err(StoreError::Held { what: what(), by: Holder::of_lock(&real, "FLOCK") })
            }
            Err(error) => Err(failed(error.into())),
        }
    }
}

/// Held while a run lands on a branch: one at a time, whatever its home is, so it lies in the repository.
#[derive(Debug)]
pub struct LandingLock {
    _file: NamedLock,
}

impl LandingLock {
    /// Takes a branch of the repository whose git directory this is.
    pub fn take(git_dir: &Path, branch: &str) -> Result<LandingLock, StoreError> {
        let folder = git_dir.join("loop");
        private_folder(&folder)?;
        let digest = Sha256::digest(branch.as_bytes());
        let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        take_file(&folder.join(format!("landing-{name}.lock")), || Locked::Landing(branch.to_owned()))
            .map(|file| LandingLock { _file: file })
    }
}

/// Held by the process that builds several systems of a queue at once.
#[derive(Debug)]
pub struct PoolLock {
    _file: NamedLock,
    log: PathBuf,
}

impl PoolLock {
    /// Takes the queue of a domain for so many jobs at once.
    pub fn take(home: &Path, project: &str, domain: &str, jobs: usize) -> Result<PoolLock, StoreError> {
        let path = pool_file(home, project, domain);
        private_folder(path.parent().expect("a file lies in a folder"))?;
        let file = take_file(&path, || Locked::Queue(domain.to_owned()))?;
        let size = path.with_extension("jobs");
        files::replace_ours(&size, &jobs.to_string()).map_err(|error| StoreError::file(&size, &error))?;
        Ok(PoolLock { _file: file, log: path.with_extension("log") })
    }

    /// Where a pool without a terminal writes its messages.
    pub fn log(&self) -> PathBuf {
        self.log.clone()
    }
}

impl Home {
    /// Returns where a pool without a terminal writes its messages.
    pub fn pool_log(&self, project: &str, domain: &str) -> PathBuf {
        pool_file(self.path(), project, domain).with_extension("log")
    }

    /// Returns who builds several systems of a queue at once, and how many.
    pub fn pool(&self, project: &str, domain: &str) -> Option<(Holder, usize)> {
        let path = pool_file(self.path(), project, domain);
        let holder = written_in(&File::open(&path).ok()?).filter(Holder::is_alive)?;
        let jobs = files::text(&path.with_extension("jobs")).ok()?;
        Some((holder, jobs.trim().parse().ok()?))
    }
}

pub(super) fn pool_file(home: &Path, project: &str, domain: &str) -> PathBuf {
    let digest = Sha256::digest(format!("{project}\0{domain}"));
    let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    home.join("pools").join(format!("{name}.lock"))
}

/// Held while a run that works elsewhere is opened in a tree.
#[derive(Debug)]
pub struct OpeningLock {
    _turn: HeldTurn,
}

impl TreeLock {
    /// Waits until nobody else opens a run in this tree. Openings are short, and a killed one lets go.
    pub fn opening(home: &Path, tree: &Path) -> Result<OpeningLock, StoreError> {
        let folder = home.join("trees");
        private_folder(&folder)?;
        let digest = Sha256::digest(tree.as_os_str().as_encoded_bytes());
        let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{name}.opening"));
        let file = ours().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| StoreError::file(&path, &error))?;
        turn::take(&Arc::new(file), &path).map(|turn| OpeningLock { _turn: turn })
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        let _ = flock(&self.directory, FlockOperation::Unlock);
    }
}

/// A locked file that names its holder.
#[derive(Debug)]
struct NamedLock(File);

impl Drop for NamedLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that another thread is about to start shares it
        // until its exec. The name goes first, since this process may well live on.
        let _ = self.0.set_len(0);
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// How long a lock is waited for while nobody alive is named in it. Such a lock is about to be free or
/// has been taken by somebody who has not yet written a name; both take microseconds, and a tenth of a
/// second is ample on a loaded machine.
const PATIENCE: Duration = Duration::from_millis(100);

fn take_file(path: &Path, what: impl Fn() -> Locked) -> Result<NamedLock, StoreError> {
    let failed = |error: std::io::Error| StoreError::file(path, &error);
    let until = Instant::now() + PATIENCE;
    let mut watch = None;
    loop {
        let file = ours().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // The file may have been replaced between opening and locking; a lock on a file that
            // nobody else can find protects nothing.
            Ok(()) if !is_at(&file, path) => {}
            Ok(()) => {
                let holder = serde_json::to_vec(&Holder::this_process()).expect("a holder is plain data");
                file.set_len(0).and_then(|()| file.write_all_at(&holder, 0)).map_err(failed)?;
                return Ok(NamedLock(file));
            }
            Err(Errno::WOULDBLOCK) => {
                let by = written_in(&file).filter(Holder::is_alive);
                let left = until.saturating_duration_since(Instant::now());
                if by.is_some() || left.is_zero() {
                    // A process that wrote no name there is none of ours, such as one that outlived its call.
                    let by = by.or_else(|| Holder::of_lock(path, "FLOCK"));
                    return Err(StoreError::Held { what: what(), by });
                }
                // Try the lock once more after the watch is set, or a release in between is missed.
                match watch.take() {
                    None => watch = Some(watched(path).map_err(failed)?),
                    Some(watch) => wait_for_change(&watch, left).map_err(failed)?,
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
}

/// Wakes when a name is written into a lock file or taken out of it, and when its holder lets it go.
fn watched(path: &Path) -> std::io::Result<OwnedFd> {
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    let changes =
        inotify::WatchFlags::MODIFY | inotify::WatchFlags::CLOSE_WRITE | inotify::WatchFlags::DELETE_SELF;
    inotify::add_watch(&watch, path, changes)?;
    Ok(watch)
}

fn wait_for_change(watch: &OwnedFd, at_most: Duration) -> std::io::Result<()> {
    let at_most = Timespec::try_from(at_most).expect("a tenth of a second fits");
    match poll(&mut [PollFd::new(watch, PollFlags::IN)], Some(&at_most)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(found)) => (ours.dev(), ours.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

/// The most that is read of a lock file: a holder's numbers and its cut command line, escaped.
const HOLDER_BYTES: usize = 4096;

fn written_in(file: &File) -> Option<Holder> {
    let mut bytes = vec![0; HOLDER_BYTES];
    let length = file.read_at(&mut bytes, 0).ok()?;
    serde_json::from_slice(&bytes[..length]).ok()
}
