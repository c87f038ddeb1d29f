//! Go's standard library, compiled once for a home. A clean run has a build cache of its own, and compiling
//! the library into it takes longer than most tests. What lies here was compiled before any code of a project
//! was compiled or run in the checkout, so no project can leave anything in it. It is copied into the first
//! step of a proof and never lent itself.

use crate::measure::proof::storage::files::{self, Budget};
use loop_base::files::{ours, private_folder};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The whole library has about 300 MB for one version of Go; more are versions that nobody uses.
const BYTES_MOST: u64 = 1 << 30;

/// Which packages are in it, and what tells whether anybody else wrote there.
const PACKAGES: &str = "packages";
const FINGERPRINT: &str = "fingerprint";

/// The library, held by one process at a time.
pub(crate) struct GoLibrary {
    folder: PathBuf,
    _lock: File,
}

impl GoLibrary {
    /// Waits until nobody else fills it.
    pub(crate) fn hold(top: &Path) -> io::Result<GoLibrary> {
        private_folder(top)?;
        let lock = ours().write(true).create(true).truncate(false).open(top.join("lock"))?;
        while let Err(error) = flock(&lock, FlockOperation::LockExclusive) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        Ok(GoLibrary { folder: top.join("cache"), _lock: lock })
    }

    /// Copies what there is into a build cache; returns the packages.
    pub(crate) fn lend(&self, to: &Path, budget: &mut Budget) -> io::Result<BTreeSet<String>> {
        let kept = fs::read_to_string(self.folder.join(FINGERPRINT)).unwrap_or_default();
        let is_whole = !kept.is_empty() && self.fingerprint().is_ok_and(|it| it == kept);
        if !is_whole || BYTES_MOST < files::weigh(&self.folder) {
            files::remove(&self.folder)?;
            return Ok(BTreeSet::new());
        }
        files::copy(&self.folder, to, &is_ours, budget)?;
        let packages = fs::read_to_string(self.folder.join(PACKAGES)).unwrap_or_default();
        Ok(packages.lines().map(str::to_owned).collect())
    }

    /// Takes what a build cache has more.
    pub(crate) fn take(
        &self,
        from: &Path,
        packages: &BTreeSet<String>,
        budget: &mut Budget,
    ) -> io::Result<()> {
        files::remove(&self.folder.join(FINGERPRINT))?;
        private_folder(&self.folder)?;
        let is_known = |inside: &Path| {
            let place = self.folder.join(inside);
            is_ours(inside) || fs::symlink_metadata(place).is_ok_and(|it| !it.is_dir())
        };
        files::copy(from, &self.folder, &is_known, budget)?;
        let names: String = packages.iter().map(|it| format!("{it}\n")).collect();
        files::replace(&self.folder.join(PACKAGES), names.as_bytes())?;
        files::replace(&self.folder.join(FINGERPRINT), self.fingerprint()?.as_bytes())
    }

    fn fingerprint(&self) -> io::Result<String> {
        files::fingerprint(&self.folder, &is_ours)
    }
}

fn is_ours(inside: &Path) -> bool {
    [PACKAGES, FINGERPRINT].iter().any(|it| inside == Path::new(it))
}
