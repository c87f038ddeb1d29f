//! Where proofs keep their files: below the home, one folder for each project. In it are `work`, the
//! one checkout that exists at a time, with everything that its step needs; `cache`, what A0 left for
//! the steps after it; and `results`. One process at a time works in the folder of a project, under a
//! kernel lock; what a killed one left is ended and removed by the next.

use crate::measure::proof::storage::files;
use crate::tree::git::Git;
use loop_base::files::ours;
use loop_supervise::find_by_mark::end_marked;
use loop_supervise::identity::Identity;
use loop_supervise::shim::resources;
use rustix::fs::{FlockOperation, flock, statvfs};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Checkouts and caches together; a build of a large Rust project has some gigabytes.
const BYTES_MOST: u64 = 20 << 30;

/// On a small disk, this part of it.
const DISK_PART: u64 = 5;

/// A proof that starts with less than this would fill the disk in the middle of a build.
const FREE_LEAST: u64 = 256_000_000;

/// A compiler that found no room leaves less than this.
const FREE_AFTER_LEAST: u64 = 16 << 20;

/// Results of one project; each is some kilobytes up to a few megabytes.
const RESULTS_MOST: usize = 200;

/// The folder of a project.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    top: PathBuf,
}

/// Who works in the folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Occupant {
    pub(crate) identity: Identity,
    pub(crate) key: String,
    pub(crate) step: String,
    /// Seconds since 1970.
    pub(crate) since: u64,
    /// What a step of this kind took the last time.
    pub(crate) expected_s: Option<f64>,
}

/// The right to work in the folder, given up when it is dropped.
pub(crate) struct Held {
    _lock: File,
    occupant: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        let _whoever_comes_next_overwrites_it = fs::remove_file(&self.occupant);
    }
}

impl Folders {
    /// The folder of the project whose repository and working trees these are. It is made.
    pub(crate) fn open(home: &Path, common_dir: &Path, places: [&Path; 2]) -> io::Result<Folders> {
        let [place, other] = places;
        let name = files::hash(format!("{}\0{}", common_dir.display(), place.display()).as_bytes());
        let home = home.canonicalize()?;
        // A checkout below the original tree would find the original's dependencies and settings on
        // the way up, as node, pytest and cargo look for them.
        let top = if home.starts_with(place) || home.starts_with(other) {
            elsewhere()?
        } else {
            home.join("proof")
        };
        let top = top.join(&name[..12]);
        DirBuilder::new().recursive(true).mode(0o700).create(top.join("results"))?;
        Ok(Folders { top })
    }

    pub(crate) fn openings(home: &Path) -> PathBuf {
        home.join("proof/openings")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.top.join("work")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.top.join("cache")
    }

    /// The compiled standard library of Go, which all projects of a home use. Pruning takes it for one of them.
    pub(crate) fn go_library(&self) -> PathBuf {
        self.top.with_file_name("go")
    }

    pub(crate) fn result(&self, key: &str) -> PathBuf {
        self.top.join("results").join(format!("{key}.json"))
    }

    pub(crate) fn logs(&self, key: &str) -> PathBuf {
        self.top.join("results").join(format!("{key}.logs"))
    }

    /// Seconds that each kind of step took the last time.
    pub(crate) fn durations(&self) -> PathBuf {
        self.top.join("durations.json")
    }

    /// Returns who works here, if anybody does.
    pub(crate) fn occupant(&self) -> Option<Occupant> {
        let occupant: Occupant = serde_json::from_slice(&fs::read(self.top.join("occupant")).ok()?).ok()?;
        occupant.identity.open().ok()?.is_some().then_some(occupant)
    }

    /// Waits until nobody else works here, and clears what a killed one left.
    pub(crate) fn hold(&self, occupant: &Occupant) -> io::Result<Held> {
        let lock = ours().write(true).create(true).truncate(false).open(self.top.join("lock"))?;
        while let Err(error) = flock(&lock, FlockOperation::LockExclusive) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        let path = self.top.join("occupant");
        files::replace(&path, &serde_json::to_vec(occupant)?)?;
        self.clear()?;
        self.forget_old_results();
        Ok(Held { _lock: lock, occupant: path })
    }

    /// Ends and removes what the last step left: processes by its mark, then its files.
    fn clear(&self) -> io::Result<()> {
        let work = self.work();
        if let Ok(mark) = fs::read_to_string(work.join("mark")) {
            let mark = mark.trim();
            let folder = work.join(mark);
            let mut left = resources::clear(&folder, 1);
            left.extend(end_marked(mark));
            if let Some(left) = left.first() {
                return Err(io::Error::other(format!(
                    "process {} ({}) of an earlier proof cannot be ended",
                    left.pid, left.name
                )));
            }
        }
        files::remove(&work)
    }

    /// Makes the work folder of a step. The mark is on disk before anything is started under it.
    pub(crate) fn begin(&self) -> io::Result<StepFolder> {
        self.refuse_full_disk()?;
        let mark = format!("proof-{}", &uuid::Uuid::new_v4().simple().to_string()[..12]);
        let top = self.work();
        DirBuilder::new().recursive(true).mode(0o700).create(&top)?;
        files::replace(&top.join("mark"), mark.as_bytes())?;
        let work = StepFolder { top, mark };
        for folder in [work.run(), work.home(), work.reports()] {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        }
        Ok(work)
    }

    fn refuse_full_disk(&self) -> io::Result<()> {
        self.refuse_less_than(FREE_LEAST)
    }

    /// Refuses to believe a failure on a disk that the step has filled.
    pub(crate) fn refuse_filled_disk(&self) -> io::Result<()> {
        self.refuse_less_than(FREE_AFTER_LEAST)
    }

    fn refuse_less_than(&self, least: u64) -> io::Result<()> {
        let disk = statvfs(&self.top)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if least <= free {
            return Ok(());
        }
        let [free, needed] = [free, FREE_LEAST].map(loop_base::text::bytes);
        let text = format!(
            "the disk of {} has {free} free; a proof needs {needed} plus the space of a build",
            self.top.display()
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, text))
    }

    /// What the copies of one step may weigh.
    pub(crate) fn budget(&self) -> files::Budget {
        files::Budget::new(self.most().saturating_sub(files::weigh(&self.cache())))
    }

    /// Whether the cache leaves no room for a copy of itself.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.most() / 2 < files::weigh(&self.cache())
    }

    fn most(&self) -> u64 {
        let disk = statvfs(&self.top).map_or(u64::MAX, |it| it.f_blocks.saturating_mul(it.f_frsize));
        BYTES_MOST.min(disk / DISK_PART)
    }

    fn forget_old_results(&self) {
        let Ok(entries) = fs::read_dir(self.top.join("results")) else { return };
        let mut found: Vec<(std::time::SystemTime, PathBuf)> = entries
            .flatten()
            .filter(|it| it.path().extension().is_some_and(|it| it == "json"))
            .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
            .collect();
        found.sort();
        for (_, path) in &found[..found.len().saturating_sub(RESULTS_MOST)] {
            let _only_a_cache = fs::remove_file(path);
            let _only_a_cache = files::remove(&path.with_extension("logs"));
        }
    }
}

/// A folder of this user's outside of any home.
fn elsewhere() -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let top = PathBuf::from(format!("/var/tmp/loop-proof-{user}"));
    DirBuilder::new().recursive(true).mode(0o700).create(&top)?;
    let found = fs::symlink_metadata(&top)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("{} is not a private folder of this user", top.display())));
    }
    Ok(top)
}

/// Returns the process that is at a proof of this working tree, if there is one.
pub(crate) fn occupant(home: &Path, repository: &Git) -> io::Result<Option<i32>> {
    let place = repository.work_tree();
    let folders = Folders::open(home, repository.common_dir(), [place, place])?;
    Ok(folders.occupant().map(|it| it.identity.pid))
}

/// What stays when proofs are pruned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// What the steps found, for a run that is not finished.
    Findings,
    Nothing,
}

/// Removes everything that proofs of a home keep on disk but what a running one uses.
pub(crate) fn prune(home: &Path, keep: Keep) -> io::Result<u64> {
    let mut freed = 0;
    let entries = match fs::read_dir(home.join("proof")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    for entry in entries.flatten() {
        let folders = Folders { top: entry.path() };
        let Ok(lock) = File::open(folders.top.join("lock")) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        folders.clear()?;
        let gone = match keep {
            Keep::Findings => folders.cache(),
            Keep::Nothing => folders.top.clone(),
        };
        freed += files::weigh(&gone);
        files::remove(&gone)?;
    }
    if keep == Keep::Nothing {
        files::remove(&Folders::openings(home))?;
    }
    Ok(freed)
}

/// The folder of one step.
#[derive(Clone, Debug)]
pub(crate) struct StepFolder {
    top: PathBuf,
    /// What every process of the step carries in its environment.
    pub(crate) mark: String,
}

impl StepFolder {
    /// The checkout.
    pub(crate) fn tree(&self) -> PathBuf {
        self.top.join("tree")
    }

    /// The folder of the shim and its logs; its name is part of the name of the control group.
    pub(crate) fn run(&self) -> PathBuf {
        self.top.join(&self.mark)
    }

    /// HOME of the checks.
    pub(crate) fn home(&self) -> PathBuf {
        self.top.join("home")
    }

    /// Where test runners write their reports.
    pub(crate) fn reports(&self) -> PathBuf {
        self.top.join("reports")
    }

    /// Caches outside of the tree: `go`, `cargo`, `pycache`.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }
}
