//! Where a program lies.

use std::ffi::OsString;
use std::path::PathBuf;

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
