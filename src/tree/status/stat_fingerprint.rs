//! Whether a small tree stands as it stood at the last look, told from the kernel's stat data alone,
//! so that a call which changed nothing does not cost a start of git.
//!
//! The kernel stamps every change of a file's content or mode with a time that nobody can set back
//! (its change time). Two readings with the same names, inodes, sizes, modes and change times are
//! therefore of the same tree, unless a change fell into the same tick of the clock as the first
//! reading; a reading that is so close to a change vouches for nothing. Where stat data cannot tell
//! (large trees, repositories inside, what cannot be read) there is no reading, and git is asked.

use crate::clock::since_epoch;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Reading this many entries takes about as long as starting git; beyond it git's index is faster.
const ENTRIES: usize = 1000;

/// The coarsest clock that Linux stamps files of a local disk with ticks every 10 ms.
const TICK_NS: i128 = 20_000_000;

/// One reading.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct StatFingerprint {
    digest: [u8; 32],
    /// The newest change that was seen, and when the reading began, in nanoseconds of the wall clock.
    newest: i128,
    began: i128,
}

impl StatFingerprint {
    /// Reads everything below `top` but what `skips` names, and the files of `beside`, which may be
    /// absent; `None` where stat data cannot tell.
    pub(crate) fn read(
        top: &Path,
        beside: &[PathBuf],
        skips: impl Fn(&Path) -> bool,
    ) -> Option<StatFingerprint> {
        let began = since_epoch().as_nanos() as i128;
        let mut reading = Reading { hash: Sha256::new(), newest: 0, entries: 0 };
        for path in beside {
            reading.note(path, fs::metadata(path).ok().as_ref());
        }
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let mut names: Vec<_> = fs::read_dir(top.join(&folder))
                .ok()?
                .map(|it| it.map(|it| it.file_name()))
                .collect::<Result<_, _>>()
                .ok()?;
            names.sort();
            for name in names {
                let path = folder.join(&name);
                if name == ".gitmodules" || name == ".git" && !folder.as_os_str().is_empty() {
                    return None;
                }
                if name == ".git" || skips(&path) {
                    continue;
                }
                let found = fs::symlink_metadata(top.join(&path)).ok()?;
                reading.note(&path, Some(&found));
                if found.is_dir() {
                    folders.push(path);
                }
            }
            if reading.entries > ENTRIES {
                return None;
            }
        }
        Some(StatFingerprint { digest: reading.hash.finalize().into(), newest: reading.newest, began })
    }

    /// Returns whether nothing can have changed between this reading and a later one.
    pub(crate) fn lasts_until(&self, later: &StatFingerprint) -> bool {
        self.digest == later.digest && self.newest + TICK_NS < self.began
    }
}

struct Reading {
    hash: Sha256,
    newest: i128,
    entries: usize,
}

impl Reading {
    fn note(&mut self, path: &Path, found: Option<&Metadata>) {
        self.entries += 1;
        self.hash.update(path.as_os_str().as_bytes());
        self.hash.update([0]);
        let Some(found) = found else { return };
        self.hash.update(found.mode().to_ne_bytes());
        // A folder's times change with files of ours inside it; its other contents are noted one by one.
        if found.is_dir() {
            return;
        }
        let changed = i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec());
        self.newest = self.newest.max(changed);
        for number in [found.dev(), found.ino(), found.size()] {
            self.hash.update(number.to_ne_bytes());
        }
        self.hash.update(changed.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::StatFingerprint;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    fn old(mut it: StatFingerprint) -> StatFingerprint {
        it.began += 1_000_000_000;
        it
    }

    fn read(top: &Path) -> StatFingerprint {
        StatFingerprint::read(top, &[], |path| path.starts_with("ours")).expect("a small tree can be read")
    }

    #[test]
    fn every_change_of_a_tree_is_seen_and_ours_is_not() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir_all(top.join("ours")).unwrap();
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::write(top.join("a/b/file"), "one").unwrap();
        let before = old(read(top));
        assert!(before.lasts_until(&read(top)));
        fs::write(top.join("ours/state"), "x").unwrap();
        fs::write(top.join(".git/index"), "x").unwrap();
        assert!(before.lasts_until(&read(top)));

        let changes: [&dyn Fn(); 7] = [
            &|| fs::write(top.join("a/b/file"), "two").unwrap(),
            &|| {
                let file = fs::File::options().write(true).open(top.join("a/b/file")).unwrap();
                let times = file.metadata().unwrap();
                let times = fs::FileTimes::new().set_modified(times.modified().unwrap());
                std::io::Write::write_all(&mut &file, b"six").unwrap();
                file.set_times(times).unwrap();
            },
            &|| fs::set_permissions(top.join("a/b/file"), fs::Permissions::from_mode(0o755)).unwrap(),
            &|| fs::write(top.join("new"), "").unwrap(),
            &|| fs::rename(top.join("new"), top.join("newer")).unwrap(),
            &|| symlink("newer", top.join("link")).unwrap(),
            &|| fs::remove_file(top.join("link")).unwrap(),
        ];
        for (number, change) in changes.iter().enumerate() {
            let before = old(read(top));
            change();
            assert!(!before.lasts_until(&read(top)), "change {number} was not seen");
        }
    }

    #[test]
    fn a_reading_close_to_a_change_vouches_for_nothing() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), "one").unwrap();
        let reading = read(place.path());
        let racy = StatFingerprint { began: reading.newest, ..reading.clone() };
        assert!(!racy.lasts_until(&reading));
    }

    #[test]
    fn what_stat_data_cannot_tell_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("inner/.git")).unwrap();
        assert_eq!(StatFingerprint::read(place.path(), &[], |_| false), None);
        fs::remove_dir_all(place.path().join("inner")).unwrap();
        for number in 0..=super::ENTRIES {
            fs::write(place.path().join(number.to_string()), "").unwrap();
        }
        assert_eq!(StatFingerprint::read(place.path(), &[], |_| false), None);
    }
}
