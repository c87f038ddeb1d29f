//! The working tree as the file system shows it, without git: for each file that is not ignored its
//! size, times and inode. Two of them tell which files changed between two stops of a session in a
//! few system calls a file, where git takes a dozen processes. Nothing that ends a run rests on them:
//! they say only whether an iteration got anywhere, and a promise is always measured with git.
//!
//! A file that was written again with the same size counts as changed unless its content is known to
//! be the same; contents are remembered from the first such rewrite on.

use crate::hook::ignore_rules::{self, IgnoreRules};
use crate::hook::own_paths::OwnPaths;
use loop_base::files::ours;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{DirEntry, Metadata};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where they are kept, in the run's folder.
const NAME: &str = "marks.json";

/// A larger tree takes longer to walk than git takes to look at it, which has an index.
const FILES_MOST: usize = 50_000;

/// A larger file that was written again has changed; reading it would cost more than being wrong.
const DIGEST_BYTES_MOST: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marks {
    /// The call before which they were taken.
    call: u32,
    files: BTreeMap<String, Mark>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredMark", into = "StoredMark")]
struct Mark {
    size: u64,
    mode: u32,
    /// The inode, and the time of the last change to the nanosecond. Every write is a change, and
    /// nobody can set the time of a change back.
    moved: [i64; 3],
    digest: String,
}

/// A mark on the disk, in the order of its fields: their names for every file of a tree would be most
/// of what there is to read at each stop.
type StoredMark = (u64, u32, [i64; 3], String);

impl From<StoredMark> for Mark {
    fn from((size, mode, moved, digest): StoredMark) -> Mark {
        Mark { size, mode, moved, digest }
    }
}

impl From<Mark> for StoredMark {
    fn from(Mark { size, mode, moved, digest }: Mark) -> StoredMark {
        (size, mode, moved, digest)
    }
}

impl Marks {
    /// Walks the tree; `None` where git has to be asked instead. Symbolic links are not followed, and
    /// a repository within the repository is not looked into, as git does not either.
    pub(super) fn take(place: &Path, kept: &OwnPaths) -> Option<Marks> {
        let mut files = BTreeMap::new();
        let mut folders = vec![(PathBuf::new(), IgnoreRules::outside(place))];
        while let Some((folder, mut rules)) = folders.pop() {
            let path = place.join(&folder);
            let entries: Vec<DirEntry> = std::fs::read_dir(&path).ok()?.collect::<Result<_, _>>().ok()?;
            let has = |name: &str| entries.iter().any(|it| it.file_name() == name);
            if !folder.as_os_str().is_empty() && has(".git") {
                continue;
            }
            if has(ignore_rules::NAME) {
                rules = IgnoreRules::of_folder(rules, &path);
            }
            for entry in entries {
                let (name, is_folder) = (folder.join(entry.file_name()), entry.file_type().ok()?.is_dir());
                let is_git = folder.as_os_str().is_empty() && entry.file_name() == ".git";
                if is_git
                    || kept.holds(&name)
                    || IgnoreRules::ignore(rules.as_ref(), &entry.path(), is_folder)
                {
                    continue;
                }
                if is_folder {
                    folders.push((name, rules.clone()));
                    continue;
                }
                files.insert(name.to_string_lossy().into_owned(), Mark::of(&entry.metadata().ok()?));
                if FILES_MOST < files.len() {
                    return None;
                }
            }
        }
        Some(Marks { call: 0, files })
    }

    /// Reads those that were taken before this call.
    pub(super) fn read(folder: &Path, call: u32) -> Option<Marks> {
        let marks: Marks = serde_json::from_slice(&std::fs::read(folder.join(NAME)).ok()?).ok()?;
        (marks.call == call).then_some(marks)
    }

    /// Keeps them for the end of this call. Without them git is asked, so a failure costs time only.
    pub(super) fn keep(mut self, folder: &Path, call: u32) {
        self.call = call;
        let (path, beside) = (folder.join(NAME), folder.join("marks.part"));
        let text = serde_json::to_vec(&self).expect("marks are plain data");
        let _costs_time_only = ours()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&beside)
            .and_then(|mut it| it.write_all(&text))
            .and_then(|()| std::fs::rename(&beside, path));
    }

    /// Returns the files that differ from before, and remembers what it had to read for that.
    pub(super) fn changes_since(&mut self, before: &Marks, place: &Path) -> Vec<String> {
        let gone = before.files.keys().filter(|it| !self.files.contains_key(*it)).cloned();
        let mut changed: Vec<String> = gone.collect();
        for (name, mark) in &mut self.files {
            if before.files.get(name).is_none_or(|old| mark.differs(old, &place.join(name))) {
                changed.push(name.clone());
            }
        }
        changed.sort();
        changed
    }
}

impl Mark {
    fn of(meta: &Metadata) -> Mark {
        let inode = i64::from_ne_bytes(meta.ino().to_ne_bytes());
        let moved = [inode, meta.ctime(), meta.ctime_nsec()];
        Mark { size: meta.len(), mode: meta.mode(), moved, digest: String::new() }
    }

    fn differs(&mut self, old: &Mark, path: &Path) -> bool {
        if self.moved == old.moved && self.size == old.size && self.mode == old.mode {
            self.digest.clone_from(&old.digest);
            return false;
        }
        self.digest = digest(path, self.size).unwrap_or_default();
        self.size != old.size || self.mode != old.mode || self.digest.is_empty() || self.digest != old.digest
    }
}

fn digest(path: &Path, size: u64) -> Option<String> {
    if DIGEST_BYTES_MOST < size {
        return None;
    }
    let bytes = match std::fs::read_link(path) {
        Ok(target) => target.as_os_str().as_bytes().to_vec(),
        Err(_) => std::fs::read(path).ok()?,
    };
    Some(Sha256::digest(&bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::{Marks, OwnPaths};
    use std::path::Path;

    fn write(place: &Path, name: &str, text: &str) {
        let path = place.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("written");
    }

    #[test]
    fn what_changes_is_seen_and_what_is_ignored_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = dir.path();
        std::fs::create_dir(place.join(".git")).expect("a folder");
        for (name, text) in [
            (".gitignore", "target/\n*.log\n"),
            ("a/.gitignore", "!kept.log\n"),
            (".git/info/exclude", "secret\n"),
            ("a/one", "1"),
            ("two", "2"),
            ("three", "3"),
            ("DESIGN.md", "x"),
            ("inner/.git/HEAD", "x"),
        ] {
            write(place, name, text);
        }
        let kept = OwnPaths::read(&["DESIGN.md".to_owned(), ".loop/".to_owned()]);
        let mut before = Marks::take(place, &kept).expect("a small tree");
        let mut changes = || {
            let mut now = Marks::take(place, &kept).expect("a small tree");
            let changed = now.changes_since(&before, place);
            before = now;
            changed
        };
        assert_eq!(changes(), [""; 0]);
        for (name, text) in [
            ("target/debug/x", "x"),
            ("a.log", "x"),
            ("secret", "x"),
            (".loop/x", "x"),
            (".git/index", "x"),
            ("DESIGN.md", "y y"),
            ("inner/file", "x"),
        ] {
            write(place, name, text);
        }
        assert_eq!(changes(), [""; 0]);
        write(place, "a/one", "11");
        write(place, "a/kept.log", "x");
        std::fs::remove_file(place.join("two")).expect("removed");
        assert_eq!(changes(), ["a/kept.log", "a/one", "two"]);

        // A rewrite is a change until the content is known.
        write(place, "three", "4");
        assert_eq!(changes(), ["three"]);
        std::fs::remove_file(place.join("three")).expect("removed");
        write(place, "three", "4");
        assert_eq!(changes(), [""; 0]);
        write(place, "three", "5");
        assert_eq!(changes(), ["three"]);
    }

    #[test]
    fn marks_belong_to_one_call() {
        let dir = tempfile::tempdir().expect("a folder");
        let kept = OwnPaths::read(&[]);
        let marks = Marks::take(dir.path(), &kept).expect("an empty tree");
        marks.keep(dir.path(), 3);
        assert_eq!(Marks::read(dir.path(), 2), None);
        assert!(Marks::read(dir.path(), 3).is_some());
        write(dir.path(), "marks.json", "{");
        assert_eq!(Marks::read(dir.path(), 3), None);
    }
}
