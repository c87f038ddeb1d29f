//! Build caches: what A0 built is given to the steps after it, so that they need not build the
//! dependencies again. Only A0 writes the cache. Every other step works in a copy at the same path,
//! which is thrown away: code that is being proven could leave something in a cache for the next
//! proof to find.
//!
//! A cache is one of two kinds. Cargo's `target` lies in the checkout and is known by the tag that
//! cargo writes into it. Go's build cache, cargo's home and Python's compiled files lie outside.
//! Compiled files of the tree itself are left out: Python compares times in seconds, and two
//! checkouts can be made in one.

use crate::measure::proof::checkout::history_packs::HistoryPacks;
use crate::measure::proof::storage::files::{self, Budget};
use crate::measure::proof::storage::folders::StepFolder;
use loop_base::files::private_folder;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Outside of the tree, at these names in the work folder.
const OUTSIDE: [&str; 3] = ["go", "cargo", "pycache"];

/// How deep below the top a `target` is looked for: crates of a monorepo are rarely deeper.
const DEPTH_MOST: usize = 4;

/// Where the key of the cache is written, last.
const KEY: &str = "key";

/// The cache of a project.
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(crate) fn at(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    /// Where copies of borrowed folders are kept.
    pub(crate) fn borrowed(&self) -> PathBuf {
        self.folder.join("borrowed")
    }

    /// Where the objects of the baseline and its history are kept.
    pub(crate) fn history(&self) -> HistoryPacks {
        HistoryPacks::at(self.folder.join("history"))
    }

    /// What tells whether anybody wrote to the cache since A0 did.
    pub(crate) fn fingerprint(&self) -> io::Result<String> {
        files::fingerprint(&self.folder, &|_| false)
    }

    /// Removes everything.
    pub(crate) fn remove(&self) -> io::Result<()> {
        files::remove(&self.folder)
    }

    /// Copies the cache of this key into a work folder; returns whether there was one.
    pub(crate) fn lend(&self, key: &str, work: &StepFolder, budget: &mut Budget) -> io::Result<bool> {
        if !self.is_for(key) {
            return Ok(false);
        }
        for name in OUTSIDE {
            let from = self.folder.join(name);
            if from.is_dir() {
                files::copy(&from, &work.outside(name), &|_| false, budget)?;
            }
        }
        for inside in self.targets() {
            let target = work.tree().join(&inside);
            // A tree that has something there itself is left as it is.
            if fs::symlink_metadata(&target).is_err() && target.parent().is_some_and(Path::is_dir) {
                files::copy(&self.folder.join("tree").join(&inside), &target, &|_| false, budget)?;
            }
        }
        Ok(true)
    }

    /// Takes what A0 built. `seen` is the path at which it saw the checkout, `borrowed` the folders in
    /// it whose files are always the same.
    pub(crate) fn take(
        &self,
        key: &str,
        work: &StepFolder,
        seen: &Path,
        borrowed: &[PathBuf],
    ) -> io::Result<()> {
        files::remove(&self.folder.join(KEY))?;
        for name in OUTSIDE {
            files::remove(&self.folder.join(name))?;
        }
        files::remove(&self.folder.join("tree"))?;
        private_folder(&self.folder)?;
        forget_compiled(&work.outside("pycache"), seen, borrowed)?;
        for name in OUTSIDE {
            if work.outside(name).is_dir() {
                fs::rename(work.outside(name), self.folder.join(name))?;
            }
        }
        for inside in targets(&work.tree()) {
            let kept = self.folder.join("tree").join(&inside);
            fs::create_dir_all(kept.parent().unwrap_or(&self.folder))?;
            fs::rename(work.tree().join(&inside), kept)?;
        }
        files::replace(&self.folder.join(KEY), key.as_bytes())
    }

    /// Removes a cache and borrowed copies of other conditions than these.
    pub(crate) fn renew(&self, key: &str) -> io::Result<()> {
        if self.is_for(key) { Ok(()) } else { files::remove(&self.folder) }
    }

    pub(crate) fn is_for(&self, key: &str) -> bool {
        fs::read_to_string(self.folder.join(KEY)).is_ok_and(|it| it == key)
    }

    fn targets(&self) -> Vec<PathBuf> {
        targets(&self.folder.join("tree"))
    }
}

/// Cargo's build folders below a folder.
fn targets(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(top.join(&folder)).into_iter().flatten().flatten();
        for entry in entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())) {
            let inside = folder.join(entry.file_name());
            let is_target = entry.path().join(".rustc_info.json").is_file()
                && entry.path().join("CACHEDIR.TAG").is_file();
            if is_target {
                found.push(inside);
            } else if inside.components().count() < DEPTH_MOST
                && entry.file_name() != ".git"
                && entry.file_name() != "node_modules"
            {
                folders.push(inside);
            }
        }
    }
    found
}

/// Removes the compiled files of the checkout's own sources, which lie below their full path.
fn forget_compiled(pycache: &Path, seen: &Path, borrowed: &[PathBuf]) -> io::Result<()> {
    let own = pycache.join(seen.strip_prefix("/").unwrap_or(seen));
    if !own.is_dir() {
        return Ok(());
    }
    let aside = pycache.join(".borrowed");
    for inside in borrowed.iter().filter(|it| own.join(it).is_dir()) {
        fs::create_dir_all(aside.join(inside).parent().unwrap_or(&aside))?;
        fs::rename(own.join(inside), aside.join(inside))?;
    }
    files::remove(&own)?;
    for inside in borrowed.iter().filter(|it| aside.join(it).is_dir()) {
        fs::create_dir_all(own.join(inside).parent().unwrap_or(&own))?;
        fs::rename(aside.join(inside), own.join(inside))?;
    }
    files::remove(&aside)
}
