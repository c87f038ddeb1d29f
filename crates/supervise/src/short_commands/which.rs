//! Where a program lies.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the real path of a program, by path or by name in `PATH`.
pub fn executable(name: &str, path: Option<&String>) -> Option<PathBuf> {
    let places = match path {
        _ if name.contains('/') => OsString::new(),
        Some(path) => OsString::from(path),
        None => std::env::var_os("PATH").unwrap_or_default(),
    };
    let is_program =
        |it: &PathBuf| it.is_file() && rustix::fs::access(it, rustix::fs::Access::EXEC_OK).is_ok();
    let candidate = std::env::split_paths(&places).map(|it| it.join(name)).find(is_program)?;
    candidate.canonicalize().ok()
}

/// Folders of the system, where `PATH` names none.
const SYSTEM: [&str; 2] = ["/usr/bin", "/bin"];

/// Returns a program that this user cannot have replaced, else the first of its name in `PATH`. What decides
/// about a signature should not be a file that an agent could have written.
pub(crate) fn unwritable(name: &str) -> Option<PathBuf> {
    let listed = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&listed).chain(SYSTEM.map(PathBuf::from));
    let found: Vec<PathBuf> = folders.map(|it| it.join(name)).filter(|it| it.is_file()).collect();
    let is_safe = |it: &Path| std::fs::metadata(it).is_ok_and(|it| it.uid() == 0 && it.mode() & 0o002 == 0);
    let is_unwritable = |it: &&PathBuf| it.canonicalize().is_ok_and(|it| it.ancestors().all(is_safe));
    found.iter().find(is_unwritable).or(found.first()).cloned()
}
