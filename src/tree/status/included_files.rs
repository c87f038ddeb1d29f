//! Which files become part of a tree that is hashed and kept. What is left out is named with its
//! reason, so that nobody believes in a snapshot of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Sources are rarely larger than 1 MiB; above 50 MiB an untracked file is a build product, a core
/// dump or data, and keeping it in the object store at every change would fill the disk.
pub(crate) const UNTRACKED_FILE_MOST: u64 = 50 << 20;

/// All untracked files together, for the same reason.
const UNTRACKED_BYTES_MOST: u64 = 1 << 30;

/// A dependency folder that nobody ignored has 30,000 to 100,000 files. Hashing them takes seconds,
/// once; beyond that it is data, and every status would compare all of it.
const UNTRACKED_FILES_MOST: usize = 100_000;

/// What lies at a path of the tree.
pub(crate) enum PathContent {
    /// A file or a link, with its size.
    File(u64),
    Folder,
    Nothing,
    Unkept(&'static str),
}

pub(crate) fn find(work_tree: &Path, path: &Path) -> PathContent {
    // Git does not track through links: what one leads to is not at this path.
    let mut parents = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    if parents.any(|it| work_tree.join(it).is_symlink()) {
        return PathContent::Nothing;
    }
    let place = work_tree.join(path);
    let Ok(file) = fs::symlink_metadata(&place) else { return PathContent::Nothing };
    match file.file_type() {
        kind if kind.is_dir() => PathContent::Folder,
        kind if kind.is_symlink() => PathContent::File(0),
        kind if !kind.is_file() => PathContent::Unkept("neither a file nor a link"),
        _ if rustix::fs::access(&place, rustix::fs::Access::READ_OK).is_err() => {
            PathContent::Unkept("not readable")
        }
        _ => PathContent::File(file.size()),
    }
}

/// Decides which untracked files become part of the tree beside those that are, and names the others.
pub(crate) fn admit<'a>(
    present: usize,
    listed: impl IntoIterator<Item = (&'a Path, PathContent)>,
) -> (Vec<PathBuf>, Vec<String>) {
    let (mut admitted, mut left_out, mut bytes, mut surplus) = (Vec::new(), Vec::new(), 0, 0_usize);
    for (path, found) in listed {
        match found {
            // Gone since it was listed.
            PathContent::Nothing => {}
            PathContent::Folder => left_out.push(named(path, "a repository of its own")),
            PathContent::Unkept(reason) => left_out.push(named(path, reason)),
            PathContent::File(size) if size > UNTRACKED_FILE_MOST => {
                let most = UNTRACKED_FILE_MOST >> 20;
                left_out.push(named(path, &format!("untracked and larger than {most} MiB")));
            }
            PathContent::File(size)
                if present + admitted.len() >= UNTRACKED_FILES_MOST
                    || bytes + size > UNTRACKED_BYTES_MOST =>
            {
                surplus += 1;
            }
            PathContent::File(size) => {
                bytes += size;
                admitted.push(path.to_owned());
            }
        }
    }
    if surplus > 0 {
        left_out.push(format!(
            "{surplus} more untracked files (too many; ignore generated ones with .gitignore)"
        ));
    }
    (admitted, left_out)
}

pub(crate) fn named(path: &Path, reason: &str) -> String {
    format!("{} ({reason})", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_untracked_files_are_counted() {
        let paths: Vec<PathBuf> = (0..UNTRACKED_FILES_MOST + 3).map(|it| it.to_string().into()).collect();
        let (admitted, left_out) = admit(0, paths.iter().map(|it| (it.as_path(), PathContent::File(1))));
        assert_eq!((admitted.len(), left_out.len()), (UNTRACKED_FILES_MOST, 1));
        assert!(left_out[0].starts_with("3 more untracked files"), "{left_out:?}");
        let large = (0..30).map(|it| (paths[it].as_path(), PathContent::File(UNTRACKED_FILE_MOST)));
        assert_eq!(admit(0, large).0.len(), 20);
    }
}
