//! Which submodules a working tree has, and how the state of one becomes an entry of our index.

use super::included_files::{PathContent, find};
use super::tree_status::TreeStatus;
use crate::tree::repository::git::{Git, GitError};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Asking each costs a start of git. More than this many are a package manager's, and change by commit.
const MODULES_MOST: usize = 200;

/// Compiled files that Python leaves beside every module it imports. Who works in the tree above can give the
/// library of somebody else no ignore file, and must not be kept from finishing by it.
pub(super) const GENERATED: &str = "__pycache__";

/// Lists the submodules that are checked out, by the file that git keeps them in.
pub(crate) fn listed(view: &Git) -> Result<Vec<PathBuf>, GitError> {
    let work_tree = view.work_tree();
    if !fs::symlink_metadata(work_tree.join(".gitmodules")).is_ok_and(|it| it.is_file()) {
        return Ok(Vec::new());
    }
    let asked = ["config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$"];
    let listing = match view.run(asked) {
        Ok(listing) => listing,
        // Exit 1: there is none. A file that is no configuration names none either.
        Err(GitError::Failed { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let values = listing.split(|it| *it == 0).filter_map(|it| {
        let end = it.iter().position(|it| *it == b'\n')?;
        Some(crate::tree::repository::git_text::bytes_to_path(&it[end + 1..]))
    });
    let is_there = |it: &PathBuf| {
        it.is_relative()
            && !it.components().any(|it| it.as_os_str() == "..")
            && matches!(find(work_tree, it), PathContent::Folder)
            && work_tree.join(it).join(".git").exists()
    };
    Ok(values.filter(is_there).take(MODULES_MOST).collect())
}

/// The name of the folder that a submodule's view is kept in.
pub(crate) fn folder_name(path: &Path) -> String {
    hex(&[path.as_os_str().as_bytes()])[..32].to_owned()
}

/// What stands in our index for a submodule with uncommitted changes: a name that changes with them,
/// and that no commit has.
pub(crate) fn link(status: &TreeStatus) -> String {
    let length = status.tree.len();
    hex(&[status.commit.as_deref().unwrap_or_default().as_bytes(), status.tree.as_bytes()])[..length]
        .to_owned()
}

fn hex(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
        digest.update([0]);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
