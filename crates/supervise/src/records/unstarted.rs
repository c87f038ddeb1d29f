//! The proof that a call was never started: the file `unstarted` of its run, with a random text whose digest the
//! caller writes into its journal together with the intent. The shim wipes the text between its claim and the
//! start of the program, so no agent has ever read it. An agent can delete every file of the run's folder, and
//! none that it writes there has this digest: without the text a call may have been started. One file serves all
//! calls of a run, because making and removing one for each costs more than the rest of an intent.

use loop_base::files;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// The text is shorter than this.
const TEXT_MOST: usize = 200;

/// Writes the proof, before the intent is journaled; returns the digest to journal. The text of a call before it
/// goes: that call has ended, or its intent never reached the journal. Where it cannot be written, the digest is of
/// a text that exists nowhere, and a call that may have been started is never taken for one that was not.
pub fn issue(run_dir: &Path, stem: &str) -> String {
    let text = format!("{stem} was not started {}", uuid::Uuid::new_v4());
    let _it_counts_as_started_without = files::overwrite_ours(&path(run_dir), &text);
    digest(text.as_bytes())
}

/// Takes the proof away, because a call is about to start.
pub(crate) fn revoke(run_dir: &Path) -> io::Result<()> {
    files::overwrite_ours(&path(run_dir), "")
}

/// Returns whether the proof with this digest is still there.
pub(crate) fn holds(run_dir: &Path, journaled: &str) -> bool {
    files::read(&path(run_dir), TEXT_MOST).is_ok_and(|text| digest(text.trim_ascii_end()) == journaled)
}

fn path(run_dir: &Path) -> PathBuf {
    run_dir.join("unstarted")
}

fn digest(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{digest, holds, issue, path, revoke};
    use std::path::Path;

    #[test]
    fn only_the_text_that_was_issued_proves_anything() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = issue(dir.path(), "call-10");
        assert!(holds(dir.path(), &first));
        let second = issue(dir.path(), "call-9");
        assert!(holds(dir.path(), &second) && !holds(dir.path(), &first));
        let text = std::fs::read(path(dir.path())).expect("read");
        for _ in 0..2 {
            revoke(dir.path()).expect("wiped");
            assert!(!holds(dir.path(), &second));
        }
        let left = std::fs::read(path(dir.path())).expect("read");
        assert!(left.len() == text.len() && left.iter().all(u8::is_ascii_whitespace), "{left:?}");
        std::fs::write(path(dir.path()), "call-9 was not started").expect("written");
        assert!(!holds(dir.path(), &second));
    }

    /// What an earlier call put where the proof is going to be neither shows it nor keeps it away.
    #[test]
    fn whatever_was_put_in_its_place_is_replaced() {
        let dir = tempfile::tempdir().expect("a folder");
        let own = dir.path().join("own");
        std::fs::write(&own, "nothing").expect("written");
        let puts: [fn(&Path, &Path) -> std::io::Result<()>; 3] = [
            |own, place| std::fs::hard_link(own, place),
            |own, place| std::os::unix::fs::symlink(own, place),
            |_, place| std::fs::create_dir_all(place.join("folder")),
        ];
        for put in puts {
            put(&own, &path(dir.path())).expect("put there");
            let journaled = issue(dir.path(), "call-2");
            assert!(holds(dir.path(), &journaled));
            assert_eq!(std::fs::read_to_string(&own).expect("readable"), "nothing");
            std::fs::remove_file(path(dir.path())).expect("removed");
        }
    }

    /// An intent always names a digest: one without would be judged by files that an agent can remove.
    #[test]
    fn without_a_file_there_is_a_digest_of_a_text_that_nobody_has() {
        let dir = tempfile::tempdir().expect("a folder");
        let missing = dir.path().join("missing");
        let journaled = issue(&missing, "call-1");
        assert_eq!(journaled.len(), digest(b"").len());
        assert!(!holds(&missing, &journaled));
    }
}
