//! Files that git stores through a filter, such as those of large file storage. A view knows no filter, so to it such a
//! file differs from what was committed as soon as somebody touched it. Before it is called uncommitted, it is stored as
//! the person's own git would store it, if that starts only filters which they had before the run; nothing is written.

use crate::tree::repository::git::{Git, GitError};
use crate::tree::repository::git_text::bytes_to_path;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// So many are compared; a command line holds some thousands, and each costs a start of its filter.
const FILES_MOST: usize = 500;

/// What is known about files that differ by their bytes.
#[derive(Default)]
pub(super) struct Filtered {
    /// Those that are what the commit holds.
    pub(super) committed: BTreeSet<PathBuf>,
    /// Those whose filter is not started, each with it.
    pub(super) unknown: BTreeMap<PathBuf, String>,
}

/// Compares these files with a commit. Where git or a filter fails, they differ.
pub(super) fn compare(git: &Git, commit: &str, files: Vec<PathBuf>) -> Filtered {
    if files.is_empty() || !git.trusts_programs() {
        return Filtered::default();
    }
    try_to_compare(git, commit, files).unwrap_or_else(|error| {
        tracing::warn!(%error, "files with a filter could not be compared");
        Filtered::default()
    })
}

fn try_to_compare(git: &Git, commit: &str, files: Vec<PathBuf>) -> Result<Filtered, GitError> {
    let mut files: Vec<PathBuf> = git.with_filter(&files)?.into_iter().map(|it| it.0).collect();
    if files.is_empty() {
        return Ok(Filtered::default());
    }
    let unknown: BTreeMap<PathBuf, String> = git.filtered(&files)?.into_iter().collect();
    files.retain(|it| !unknown.contains_key(it) && is_line(it) && is_file(&git.work_tree().join(it)));
    files.truncate(FILES_MOST);
    if files.is_empty() {
        return Ok(Filtered { unknown, ..Filtered::default() });
    }
    let lines: Vec<u8> = files.iter().flat_map(|it| [it.as_os_str().as_bytes(), b"\n"].concat()).collect();
    let stored = git.feed(["hash-object", "--stdin-paths"], &lines)?;
    let asked = ["ls-tree", "--full-tree", "-z", commit, "--"].map(OsString::from);
    let held = git.run(asked.into_iter().chain(files.iter().map(|it| it.clone().into_os_string())))?;
    let held: BTreeMap<PathBuf, &[u8]> = held.split(|it| *it == 0).filter_map(entry).collect();
    let stored = stored.split(|it| *it == b'\n');
    let is_held = |path: &PathBuf, id: &[u8]| {
        let mode = if is_program(&git.work_tree().join(path)) { "100755" } else { "100644" };
        held.get(path).is_some_and(|it| **it == [mode.as_bytes(), b" blob ", id].concat())
    };
    let same = files.iter().zip(stored).filter(|(path, id)| is_held(path, id));
    Ok(Filtered { committed: same.map(|(path, _)| path.clone()).collect(), unknown })
}

/// The path of an entry of a tree, and its mode, its kind and its id.
fn entry(entry: &[u8]) -> Option<(PathBuf, &[u8])> {
    let end = entry.iter().position(|it| *it == b'\t')?;
    Some((bytes_to_path(&entry[end + 1..]), &entry[..end]))
}

/// Whether git reads it back from a line as it is.
fn is_line(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    !bytes.contains(&b'\n') && !bytes.starts_with(b"\"")
}

/// What a link leads to goes through no filter.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
}

fn is_program(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.permissions().mode() & 0o100 != 0)
}
