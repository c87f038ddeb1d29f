//! Where checks run: in the working tree itself, or in a fresh checkout of what was seen there.
//! A fresh one holds nothing that the tree does not: no build products, no ignored files, no
//! caches that somebody could have prepared.

use crate::tree::git::GitError;
use crate::tree::snapshot;
use crate::tree::tree_status::TreeStatus;
use crate::tree::working_tree::WorkingTree;
use std::path::{Path, PathBuf};

pub(crate) struct CheckFolder {
    pub path: PathBuf,
    is_fresh: bool,
}

impl CheckFolder {
    pub(crate) fn in_place(place: &Path) -> CheckFolder {
        CheckFolder { path: place.to_owned(), is_fresh: false }
    }

    /// Checks the tree out below the run's folder.
    pub(crate) fn fresh(
        tree: &WorkingTree,
        status: &TreeStatus,
        run: &str,
        folder: &Path,
    ) -> Result<CheckFolder, GitError> {
        let room = CheckFolder { path: folder.join("clean"), is_fresh: true };
        // A controller that was killed may have left one.
        let _may_be_absent = std::fs::remove_dir_all(&room.path);
        let taken = snapshot::take(&tree.pinned, status, run)?;
        let kept = snapshot::list(&tree.pinned, run)?;
        let kept = kept.iter().find(|it| it.name == taken.name).expect("it was just taken");
        snapshot::write_into(&tree.pinned, kept, &room.path)?;
        Ok(room)
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.is_fresh
    }
}

impl Drop for CheckFolder {
    fn drop(&mut self) {
        if self.is_fresh {
            let _the_next_one_tries_again = std::fs::remove_dir_all(&self.path);
        }
    }
}
