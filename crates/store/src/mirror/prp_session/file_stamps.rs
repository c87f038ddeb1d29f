//! What our files looked like when we left them. Somebody else may write to them at any time; whether
//! that happened is seen by size, time and number of the file, so that nothing has to be read.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Each file as it was after our last write.
#[derive(Default)]
pub(super) struct KeptStamps {
    files: BTreeMap<String, Look>,
}

/// A file at a moment. A change of the content changes at least one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    number: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl KeptStamps {
    /// Remembers a file that we have just written or found as it should be.
    pub(super) fn note(&mut self, folder: &Path, name: &str) {
        match look(folder, name) {
            Some(look) => drop(self.files.insert(name.to_owned(), look)),
            None => drop(self.files.remove(name)),
        }
    }

    /// Returns what somebody else did since, one line for each file.
    pub(super) fn edits(&self, folder: &Path) -> Vec<String> {
        self.files.keys().filter_map(|it| self.edit(folder, it)).collect()
    }

    /// The same for one file. `None` for a file that is as we left it or was never ours.
    pub(super) fn edit(&self, folder: &Path, name: &str) -> Option<String> {
        let before = self.files.get(name)?;
        let what = match look(folder, name) {
            Some(now) if now == *before => return None,
            Some(_) => "changed",
            None => "removed",
        };
        Some(format!("{name} was {what} by somebody else; the edit was undone and had no effect"))
    }
}

fn look(folder: &Path, name: &str) -> Option<Look> {
    let meta = std::fs::symlink_metadata(folder.join(name)).ok().filter(|it| it.is_file())?;
    Some(Look {
        number: meta.ino(),
        bytes: meta.len(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    })
}
