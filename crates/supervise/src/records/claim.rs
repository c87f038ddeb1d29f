//! The one right to start a call: whoever creates `<stem>.out` has it. The shim creates it to start
//! the call; a later controller creates it so that the call can never start. A voided claim is a hard
//! link to the run's file `void`, so it is recognised by its inode: no output of an agent can look
//! like it, and a crash between the two steps leaves nothing to repair.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Takes the right to start the call; `None` when somebody has it.
pub fn take(out_path: &Path) -> io::Result<Option<File>> {
    if_absent(OpenOptions::new().append(true).create_new(true).mode(0o600).open(out_path))
}

/// Takes the right away from whoever may still come; false when the call was claimed before.
pub fn void(run_dir: &Path, stem: &str) -> io::Result<bool> {
    // On a full disk a claim that is there can still be seen, and nothing new be made.
    if exists(run_dir, stem) {
        return Ok(false);
    }
    let void = run_dir.join("void");
    let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&void);
    if let Some(mut file) = if_absent(file)? {
        file.write_all(b"a call whose output is this file was never started\n")?;
    }
    Ok(if_absent(fs::hard_link(&void, out_path(run_dir, stem)))?.is_some())
}

/// Returns whether somebody has the right, or it was taken away.
pub(crate) fn exists(run_dir: &Path, stem: &str) -> bool {
    fs::symlink_metadata(out_path(run_dir, stem)).is_ok()
}

/// Returns whether the right was taken away by `void`.
pub fn is_void(run_dir: &Path, stem: &str) -> io::Result<bool> {
    let inode = |path: &Path| match fs::symlink_metadata(path) {
        Ok(it) => Ok(Some((it.dev(), it.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let void = inode(&run_dir.join("void"))?;
    Ok(void.is_some() && void == inode(&out_path(run_dir, stem))?)
}

fn out_path(run_dir: &Path, stem: &str) -> PathBuf {
    run_dir.join(format!("{stem}.out"))
}

fn if_absent<T>(made: io::Result<T>) -> io::Result<Option<T>> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_void, take, void};
    use std::fs;

    #[test]
    fn one_of_many_gets_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("call-1.out");
        assert!(take(&out).expect("possible").is_some());
        assert!(take(&out).expect("possible").is_none());
        assert!(!void(dir.path(), "call-1").expect("possible"));
        assert!(!is_void(dir.path(), "call-1").expect("readable"));
    }

    #[test]
    fn a_voided_call_cannot_start() {
        let dir = tempfile::tempdir().expect("a folder");
        for stem in ["call-1", "call-2"] {
            assert!(!is_void(dir.path(), stem).expect("readable"));
            assert!(void(dir.path(), stem).expect("possible"));
            assert!(take(&dir.path().join(format!("{stem}.out"))).expect("possible").is_none());
            assert!(is_void(dir.path(), stem).expect("readable"));
            assert!(!void(dir.path(), stem).expect("possible"));
        }
    }

    #[test]
    fn output_that_looks_like_a_void_is_none() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(void(dir.path(), "call-1").expect("possible"));
        let text = fs::read(dir.path().join("void")).expect("readable");
        fs::write(dir.path().join("call-2.out"), text).expect("written");
        assert!(!is_void(dir.path(), "call-2").expect("readable"));
    }
}
