//! Locks that a killed git left in a repository. Git itself waits for nobody and refuses to work as
//! long as the file is there, so whoever commits next fails, call after call. A lock is removed only
//! when no running process can be its owner; one that is held is named with its owner.
//!
//! The lock of git names no process. Its owner has the file open while writing it; while an editor or
//! a hook runs it does not, so every git that works in this repository counts as a possible owner.

use super::git::Git;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Looks at the locks of a repository, removes those without an owner, and says what was found.
pub(crate) fn clear_stale(repository: &Git) -> Vec<String> {
    let paths = ["index.lock", "HEAD.lock"].map(|it| repository.git_dir().join(it));
    paths.iter().filter_map(|path| settle(repository, path)).collect()
}

fn settle(repository: &Git, path: &Path) -> Option<String> {
    let before = identity(path)?;
    let name = path.strip_prefix(repository.work_tree()).unwrap_or(path).display();
    if let Some(owner) = owner(repository, path) {
        return Some(format!("{name} is in use by {owner}; git refuses to commit until it is gone"));
    }
    // Nobody could make a new one while this one was there, but its owner may have ended meanwhile.
    if identity(path)? != before {
        return None;
    }
    match fs::remove_file(path) {
        Ok(()) => Some(format!("removed {name}, a git lock whose owner is dead")),
        Err(error) => Some(format!("{name} is a git lock whose owner is dead; remove it ({error})")),
    }
}

fn identity(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let it = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((it.dev(), it.ino(), it.ctime(), it.ctime_nsec()))
}

/// Returns a process that may own the lock.
fn owner(repository: &Git, lock: &Path) -> Option<String> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Some("a process that is not visible from here".to_owned());
    };
    let pids = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let mut others = pids.filter(|it| *it != std::process::id());
    others.find(|it| may_own(*it, repository, lock)).map(|pid| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        format!("process {pid} ({})", name.trim_end())
    })
}

fn may_own(pid: u32, repository: &Git, lock: &Path) -> bool {
    let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let descriptors = fs::read_dir(of("fd")).into_iter().flatten().flatten();
    if descriptors.into_iter().any(|it| fs::read_link(it.path()).is_ok_and(|it| it == lock)) {
        return true;
    }
    if !fs::read_to_string(of("comm")).is_ok_and(|it| it.starts_with("git")) {
        return false;
    }
    let places = [repository.work_tree(), repository.git_dir(), repository.common_dir()];
    match fs::read_link(of("cwd")) {
        Ok(folder) if places.iter().any(|it| folder.starts_with(it)) => true,
        Ok(_) => {
            let words = fs::read(of("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            places.iter().any(|it| words.contains(&*it.to_string_lossy()))
        }
        // A git of another user could be at work anywhere; one that is a zombie has nothing any more.
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    }
}
