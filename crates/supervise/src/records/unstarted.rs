//! The proof that a call was never started: `<stem>.unstarted`, a random text whose digest the caller writes
//! into its journal together with the intent. The shim deletes the file between its claim and the start of the
//! program, so no agent has ever read it. An agent can delete every file of the run's folder, and none that it
//! writes there has this digest: without the text a call may have been started.

use loop_base::files::{self, ours};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The text is shorter than this.
const TEXT_MOST: usize = 100;

/// Writes the proof, before the intent is journaled; returns the digest to journal.
pub fn issue(run_dir: &Path, stem: &str) -> io::Result<String> {
    let text = format!("{stem} was not started {}\n", uuid::Uuid::new_v4());
    // One of this name belongs to an intent that never reached the journal.
    ours().write(true).create(true).truncate(true).open(path(run_dir, stem))?.write_all(text.as_bytes())?;
    Ok(digest(text.as_bytes()))
}

/// Takes the proof away, because the call is about to start.
pub(crate) fn revoke(run_dir: &Path, stem: &str) -> io::Result<()> {
    match std::fs::remove_file(path(run_dir, stem)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns whether the proof with this digest is still there.
pub(crate) fn holds(run_dir: &Path, stem: &str, journaled: &str) -> bool {
    files::read(&path(run_dir, stem), TEXT_MOST).is_ok_and(|text| digest(&text) == journaled)
}

fn path(run_dir: &Path, stem: &str) -> PathBuf {
    run_dir.join(format!("{stem}.unstarted"))
}

fn digest(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{holds, issue, path, revoke};

    #[test]
    fn only_the_text_that_was_issued_proves_anything() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = issue(dir.path(), "call-1").expect("written");
        assert!(holds(dir.path(), "call-1", &first) && !holds(dir.path(), "call-2", &first));
        let second = issue(dir.path(), "call-1").expect("written");
        assert!(holds(dir.path(), "call-1", &second) && !holds(dir.path(), "call-1", &first));
        for _ in 0..2 {
            revoke(dir.path(), "call-1").expect("removed");
            assert!(!holds(dir.path(), "call-1", &second));
        }
        std::fs::write(path(dir.path(), "call-1"), "call-1 was not started\n").expect("written");
        assert!(!holds(dir.path(), "call-1", &second));
    }
}
