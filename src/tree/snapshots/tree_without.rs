//! The tree of a commit without the files that belong to a run: what a run judges, seen from a commit. It
//! is made in an index of its own; the user's is not touched, and only tree objects are written.

use crate::tree::repository::git::{Git, GitError};
use crate::tree::repository::git_text::{bytes_to_path, single_line};
use crate::tree::status::path_patterns::Ours;

/// Returns the id of that tree.
pub(crate) fn tree_without(git: &Git, commit: &str, ours: &Ours) -> Result<String, GitError> {
    let listed = git.run(["ls-tree", "-r", "-z", "--full-tree", commit])?;
    let mut kept = Vec::new();
    for entry in listed.split(|it| *it == 0).filter(|it| !it.is_empty()) {
        let path = entry.iter().position(|it| *it == b'\t').map_or(&[][..], |it| &entry[it + 1..]);
        if !ours.holds(&bytes_to_path(path)) {
            kept.extend_from_slice(entry);
            kept.push(0);
        }
    }
    let index = std::env::temp_dir().join(format!("loop-index-{}", uuid::Uuid::new_v4()));
    let apart = git.with(vec![("GIT_INDEX_FILE", index.clone().into_os_string())]);
    let made = apart
        .feed(["update-index", "-z", "--index-info"], &kept)
        .and_then(|_| apart.run(["write-tree", "--missing-ok"]));
    let _nobody_needs_it = std::fs::remove_file(&index);
    Ok(single_line(&made?))
}
