//! The records of a run's calls, `calls.log`: one JSON line for each call that was claimed, before it starts,
//! and one for each that ended. It exists for the next controller, when the one that ordered the call is dead; nobody else reads it.

use super::protocol::OrderEnd;
use super::tail;
use loop_base::files::{self, ours};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The record that is asked for belongs to the last call or, when its successor was voided, to one
/// of the last few: a record is some hundred bytes, and 64 processes that could not be ended make
/// it a few thousand.
const READ_BYTES: u64 = 1024 * 1024;

/// A record with 64 processes that could not be ended, and a path in its trouble.
const RECORD_MOST: u64 = 16 * 1024;

/// Room for many records, so that it is asked for rarely.
const RESERVED_BYTES: u64 = 64 * 1024;

#[derive(Serialize, Deserialize)]
struct ExitRecord {
    stem: String,
    ending: OrderEnd,
}

/// A call that is about to start. An agent can remove the claim itself, which is the file of its output.
#[derive(Serialize, Deserialize)]
struct ClaimRecord {
    claimed: String,
}

/// The writing end, held by the shim.
pub struct Ledger {
    file: File,
    /// Where the file ends, and up to where the disk has given us room.
    end: u64,
    reserved: u64,
}

impl Ledger {
    pub fn open(run_dir: &Path) -> io::Result<Ledger> {
        let path = path(run_dir);
        // An agent can have put something else there, which holds no record.
        if std::fs::symlink_metadata(&path).is_ok_and(|it| !it.is_file()) {
            files::remove_any(&path)?;
        }
        let file = ours().create(true).append(true).open(path)?;
        let end = file.metadata()?.len();
        Ok(Ledger { file, end, reserved: end })
    }

    /// Makes sure that there is room for one more record, however full the disk is when it is due: an
    /// agent fills disks, and its end must be known all the same. Fails only when the disk is full now.
    pub fn reserve(&mut self) -> io::Result<()> {
        if self.end + RECORD_MOST <= self.reserved {
            return Ok(());
        }
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.end, RESERVED_BYTES) {
            Err(error @ (Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
            // Some file systems cannot promise anything.
            Ok(()) | Err(_) => {
                self.reserved = self.end + RESERVED_BYTES;
                Ok(())
            }
        }
    }

    /// Appends the record in one write: a killed writer leaves all of it or nothing.
    pub fn append(&mut self, stem: &str, ending: &OrderEnd) -> io::Result<()> {
        self.append_line(&ExitRecord { stem: stem.to_owned(), ending: ending.clone() })
    }

    /// Notes that a call is about to start.
    pub fn claim(&mut self, stem: &str) -> io::Result<()> {
        self.append_line(&ClaimRecord { claimed: stem.to_owned() })
    }

    fn append_line(&mut self, record: &impl Serialize) -> io::Result<()> {
        // A full disk can leave half a line, so each line starts on its own.
        let mut line = b"\n".to_vec();
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        self.end += line.len() as u64;
        self.file.write_all(&line)
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Returns how the call ended, if that was recorded.
pub fn find(run_dir: &Path, stem: &str) -> io::Result<Option<OrderEnd>> {
    let text = text(run_dir)?;
    let records = text.lines().rev().filter_map(|line| serde_json::from_str::<ExitRecord>(line).ok());
    Ok(records.into_iter().find(|it| it.stem == stem).map(|it| it.ending))
}

/// Whether it was recorded that the call is about to start.
pub(crate) fn was_claimed(run_dir: &Path, stem: &str) -> io::Result<bool> {
    let text = text(run_dir)?;
    let mut records = text.lines().rev().filter_map(|line| serde_json::from_str::<ClaimRecord>(line).ok());
    Ok(records.any(|it| it.claimed == stem))
}

/// Whether there are records at all. A shim opens them before it is known on disk, so a shim without records is one
/// whose records were removed.
pub(crate) fn exist(run_dir: &Path) -> bool {
    path(run_dir).symlink_metadata().is_ok()
}

fn text(run_dir: &Path) -> io::Result<String> {
    match tail::tail(&path(run_dir), READ_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

fn path(run_dir: &Path) -> PathBuf {
    run_dir.join("calls.log")
}

#[cfg(test)]
mod tests {
    use super::super::protocol::EndReason;
    use super::{Ledger, OrderEnd, find};
    use std::io::Write;

    #[test]
    fn finds_a_record_between_broken_lines() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(find(dir.path(), "call-1").expect("readable"), None);
        let mut ledger = Ledger::open(dir.path()).expect("writable");
        ledger.file.write_all(b"{\"stem\":\"call-1\",\"ending\":{\"how\"").expect("written");
        let first = OrderEnd::without_exit(EndReason::Exited);
        let second = OrderEnd::without_exit(EndReason::Lost("gone".to_owned()));
        ledger.append("call-1", &first).expect("written");
        ledger.append("call-12", &second).expect("written");
        assert_eq!(find(dir.path(), "call-1").expect("readable"), Some(first));
        assert_eq!(find(dir.path(), "call-12").expect("readable"), Some(second));
        assert_eq!(find(dir.path(), "call-2").expect("readable"), None);
    }
}
