//! Whether a run changed the tree that it ran on. A test that rewrites a test or its configuration
//! while it runs proves nothing, so every file of the tree is noted before the run and looked at
//! after it. A protected file counts as changed when the kernel says that it was written, also if
//! its text is what it was: it may have been something else in between. Any other file counts by its
//! text, because tools rewrite lock files with the same text. Files that are not part of the tree
//! come and go as they like.

use crate::measure::proof::checkout::clean_checkout::entries;
use crate::measure::proof::pure::Class;
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::storage::files;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of submodules are looked at up to this number of files of a checkout.
const FILES_MOST: usize = 200_000;

/// Every file of a checkout, with what the kernel says about it and the hash of its text.
pub(crate) struct Manifest {
    files: BTreeMap<PathBuf, (String, String)>,
}

impl Manifest {
    /// Notes the files that the index of a checkout lists.
    pub(crate) fn of(listing: &[u8], checkout: &Path) -> Manifest {
        let mut paths = Vec::new();
        for (mode, _, path) in entries(listing) {
            match mode {
                "160000" => add_files(checkout, &path, &mut paths),
                _ => paths.push(path),
            }
        }
        Manifest { files: paths.into_iter().map(|it| (it.clone(), state(&checkout.join(&it)))).collect() }
    }

    /// The files that are not as they were.
    pub(crate) fn touched(&self, checkout: &Path, trees: &Trees) -> Vec<String> {
        let changed = self.files.iter().filter(|(path, (stamp, hash))| {
            let (now_stamp, now_hash) = state(&checkout.join(path));
            now_hash != *hash
                || now_stamp != *stamp
                    && match trees.class(&path.to_string_lossy()) {
                        Class::Test | Class::Control => true,
                        Class::Mixed(_) | Class::Ordinary => false,
                    }
        });
        changed.map(|(path, _)| path.to_string_lossy().into_owned()).collect()
    }
}

/// Files of a submodule, which the listing of its tree does not name.
fn add_files(checkout: &Path, folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(checkout.join(folder)).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => add_files(checkout, &path, paths),
            Ok(kind) if !kind.is_dir() && entry.file_name() != ".git" && paths.len() < FILES_MOST => {
                paths.push(path);
            }
            Ok(_) | Err(_) => (),
        }
    }
}

fn state(path: &Path) -> (String, String) {
    let Ok(found) = fs::symlink_metadata(path) else { return Default::default() };
    let text = if found.is_symlink() {
        fs::read_link(path).map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    } else {
        files::hash_file(path).unwrap_or_default()
    };
    (files::stamp(&found), text)
}
