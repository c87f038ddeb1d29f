//! What this user, and so an agent, could have changed. A file that only somebody else can write is as that
//! one left it: an update of the system, not a trick of the run.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const GROUP_OR_OTHERS_WRITE: u32 = 0o022;

/// Links from one program to another are two or three deep.
const LINKS_MOST: usize = 8;

/// Whether this user (0 may write everything) could have written a file. Whoever puts a file of their own in
/// its place owns that one.
pub(crate) fn may_write(user: u32, found: &Metadata) -> bool {
    user == 0 || found.uid() == user || (!found.is_symlink() && found.mode() & GROUP_OR_OTHERS_WRITE != 0)
}

/// Whether nothing on the way to a program could have been changed by this user: its folders, the links
/// that lead to it, and the program.
pub(crate) fn is_out_of_reach(user: u32, program: &Path) -> bool {
    let mut path = program.to_owned();
    for _ in 0..LINKS_MOST {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let Ok(real) = fs::canonicalize(folder) else { return false };
        let places = path.ancestors().chain(real.ancestors());
        let is_fixed = |it: &Path| fs::symlink_metadata(it).is_ok_and(|it| !may_write(user, &it));
        if !places.into_iter().all(is_fixed) {
            return false;
        }
        let target: Option<PathBuf> = fs::read_link(&path).ok();
        match target {
            Some(target) => path = plain(&real.join(target)),
            None => return fs::symlink_metadata(real.join(name)).is_ok_and(|it| it.is_file()),
        }
    }
    false
}

/// The path without `..`, which git, package managers and the system's own links use for neighbours.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Nobody has this id.
    const STRANGER: u32 = 4_000_000;

    #[test]
    fn a_program_of_the_system_is_out_of_reach_and_a_way_through_a_folder_of_the_user_is_not() {
        let shell = Path::new("/bin/sh");
        assert!(is_out_of_reach(STRANGER, shell));
        assert!(!is_out_of_reach(0, shell), "root may write everything");
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("sh");
        symlink(shell, &link).expect("a link");
        let owner = fs::symlink_metadata(&link).expect("the link").uid();
        assert!(!is_out_of_reach(owner, &link), "its owner may lead the link elsewhere");
        assert!(!is_out_of_reach(STRANGER, Path::new("/bin/no-such-program")));
    }
}
