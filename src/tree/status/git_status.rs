//! What `git status` says about a working tree and an index of ours, split by what it means for them.

use crate::tree::repository::git_text::bytes_to_path;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What `status` says, split by what it means for us.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitStatus {
    /// Tracked paths whose file is not what our index holds.
    pub(crate) changed: BTreeSet<PathBuf>,
    /// Paths that our index holds otherwise than the view's HEAD does.
    pub(crate) differing: BTreeSet<PathBuf>,
    /// Those of them that this HEAD does not hold at all.
    pub(crate) added: BTreeSet<PathBuf>,
    /// Those of them that our index does not hold at all.
    pub(crate) lacking: BTreeSet<PathBuf>,
    /// Paths that our index does not hold. A nested repository ends in a slash.
    pub(crate) untracked: BTreeSet<PathBuf>,
}

/// Reads `status --porcelain=v2 -z` without renames.
pub(crate) fn read_status(output: &[u8]) -> GitStatus {
    let mut status = GitStatus::default();
    for record in output.split(|it| *it == 0) {
        let spaces = match record.first() {
            Some(b'1') => 8,
            Some(b'u') => 10,
            Some(b'?') => 1,
            // Nothing else was asked for.
            Some(_) | None => continue,
        };
        let Some(path) = record.splitn(spaces + 1, |it| *it == b' ').nth(spaces) else { continue };
        let path = bytes_to_path(path);
        match record {
            [b'?', ..] => {
                status.untracked.insert(path);
            }
            [b'1', b' ', index, file, ..] => {
                if *index == b'A' {
                    status.added.insert(path.clone());
                }
                if *index == b'D' {
                    status.lacking.insert(path.clone());
                }
                if *index != b'.' {
                    status.differing.insert(path.clone());
                }
                if *file != b'.' {
                    status.changed.insert(path);
                }
            }
            // An unmerged path is settled for us by what the file holds.
            _ => {
                status.differing.insert(path.clone());
                status.changed.insert(path);
            }
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_record() {
        let same = "N... 100644 100644 100644 1111 1111";
        let output = format!(
            "1 .M {same} edited file\x001 A. {same} added\x001 MM {same} both\x001 .D {same} gone\x00\
             1 D. {same} forced\x00\
             u UU N... 100644 100644 100644 100644 1 2 3 a b\x00? odd\nname\x00? nested/\x00"
        );
        let set = |names: &[&str]| names.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        let expected = GitStatus {
            changed: set(&["edited file", "both", "gone", "a b"]),
            differing: set(&["added", "both", "a b", "forced"]),
            added: set(&["added"]),
            lacking: set(&["forced"]),
            untracked: set(&["odd\nname", "nested/"]),
        };
        assert_eq!(read_status(output.as_bytes()), expected);
    }
}
