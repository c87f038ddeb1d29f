//! What a run's folder may grow to. Transcripts and check logs are for people; the journal holds what
//! was decided and why. So the files of old calls go when there are too many of them or when they are
//! too large together: first of calls that went well, then of those that failed, the oldest first.
//! The last few always stay. What went is counted in a file beside them, so that whoever asks for it
//! is told.

use loop_base::files::ours;
use loop_store::run::Run;
use loop_supervise::protocol::EndReason;
use loop_supervise::tail;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All files of calls together. Verbose streaming is some megabytes a call, so this is the full story
/// of about a hundred calls, and the failures of many more.
const BYTES_MOST: u64 = 512 << 20;

/// Calls with files of their own: a folder of some thousand files is still quick to list.
const CALLS_MOST: usize = 1000;

/// What the next prompt shows and a person looks at first. Together with what is under way they may
/// go beyond the limit: one transcript is bounded by itself.
const LAST_KEPT: usize = 3;

/// So many calls pass between two looks at the folder, unless they were large.
const EVERY: u32 = 16;

/// The exit records that are read: about 5,000 calls.
const RECORDS_BYTES: u64 = 1 << 20;

/// Sets the limit, for small disks and for tests.
const VARIABLE: &str = "LOOP_RUN_BYTES";

/// The name of the file that says what is gone.
const GONE: &str = "thinned.json";

/// What was removed from a run's folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gone {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
}

/// Counts what calls have written since the folder was last looked at.
#[derive(Debug)]
pub(crate) struct Growth {
    calls: u32,
    bytes: u64,
}

impl Growth {
    /// A process that starts knows nothing of the folder, and looks.
    pub(crate) fn unknown() -> Growth {
        Growth { calls: EVERY, bytes: 0 }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.calls += 1;
        self.bytes += bytes;
    }

    /// Thins the folder out if it may have grown too large. Everything of calls before `run`'s last
    /// one is concluded in the journal.
    pub(crate) fn look(&mut self, run: &Run, folder: &Path) {
        let most = limit();
        if self.calls < EVERY && self.bytes < most / 16 {
            return;
        }
        *self = Growth { calls: 0, bytes: 0 };
        // A file that cannot be removed is tried again, and harms nobody until the disk is full.
        let _for_people_only = thin(folder, run.state.calls_total, most);
    }
}

/// Returns what is gone from a run's folder.
pub(crate) fn gone(folder: &Path) -> Option<Gone> {
    serde_json::from_str(&loop_base::files::text(&folder.join(GONE)).ok()?).ok()
}

/// Returns how many bytes lie below a folder.
pub(crate) fn size(folder: &Path) -> u64 {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => sum += meta.len(),
                Err(_) => (),
            }
        }
    }
    sum
}

fn limit() -> u64 {
    std::env::var(VARIABLE).ok().and_then(|it| it.parse().ok()).unwrap_or(BYTES_MOST)
}

/// The files of one call and of the checks after it.
#[derive(Default)]
struct KeptLog {
    files: Vec<PathBuf>,
    bytes: u64,
}

fn thin(folder: &Path, last: u32, most: u64) -> std::io::Result<()> {
    let mut calls: BTreeMap<u32, KeptLog> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let Some(number) = entry.file_name().to_str().and_then(call_of) else { continue };
        let kept = calls.entry(number).or_default();
        kept.bytes += entry.metadata().map_or(0, |it| it.len());
        kept.files.push(entry.path());
    }
    let failed = failed(folder);
    let (mut bytes, mut count) = (calls.values().map(|it| it.bytes).sum::<u64>(), calls.len());
    let old = calls.keys().copied().filter(|it| it.saturating_add(LAST_KEPT as u32) <= last);
    let mut old: Vec<u32> = old.collect();
    old.sort_by_key(|it| (failed.contains(it), *it));
    let mut gone = gone(folder).unwrap_or_default();
    let before = gone;
    for number in old {
        if bytes <= most && count <= CALLS_MOST {
            break;
        }
        let kept = &calls[&number];
        kept.files.iter().try_for_each(std::fs::remove_file)?;
        (bytes, count) = (bytes - kept.bytes, count - 1);
        gone = Gone { calls: gone.calls + 1, bytes: gone.bytes + kept.bytes };
    }
    if gone != before {
        replace(&folder.join(GONE), serde_json::to_string(&gone)?.as_bytes())?;
    }
    shorten(&folder.join("prompts.jsonl"), most / 16)
}

/// Which call a file belongs to: `call-12.out`, `call-12.2.err`, `check-12-tests.log`.
fn call_of(name: &str) -> Option<u32> {
    let rest = name.strip_prefix("call-").or_else(|| name.strip_prefix("check-"))?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// Calls that did not end well by themselves, by the shim's records.
fn failed(folder: &Path) -> BTreeSet<u32> {
    #[derive(Deserialize)]
    struct LogRecord {
        stem: String,
        ending: loop_supervise::protocol::OrderEnd,
    }
    let text = tail::tail(&folder.join("calls.log"), RECORDS_BYTES).unwrap_or_default();
    let records = text.lines().filter_map(|it| serde_json::from_str::<LogRecord>(it).ok());
    let bad = records.filter(|it| it.ending.how != EndReason::Exited || it.ending.code != Some(0));
    bad.filter_map(|it| call_of(&it.stem)).collect()
}

/// Leaves the newer half of a file of lines that has grown too long. Prompts follow from the journal.
fn shorten(path: &Path, most: u64) -> std::io::Result<()> {
    let Ok(meta) = std::fs::metadata(path) else { return Ok(()) };
    if meta.len() <= most {
        return Ok(());
    }
    let text = tail::tail(path, most / 2)?;
    replace(path, text.as_bytes())
}

fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("part");
    use std::io::Write;
    ours().write(true).create(true).truncate(true).open(&beside)?.write_all(content)?;
    std::fs::rename(beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_calls_go_and_the_last_and_the_failed_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let ending = |code| {
            let how = loop_supervise::protocol::OrderEnd::without_exit(EndReason::Exited);
            loop_supervise::protocol::OrderEnd { code: Some(code), ..how }
        };
        let mut ledger = loop_supervise::exit_records::Ledger::open(folder.path()).expect("a ledger");
        for call in 1..=40 {
            std::fs::write(path(&format!("call-{call}.out")), [b'x'; 100]).expect("written");
            std::fs::write(path(&format!("check-{call}-tests.log")), [b'x'; 50]).expect("written");
            ledger.append(&format!("call-{call}"), &ending(i32::from(call == 7))).expect("recorded");
        }
        std::fs::write(path("loop.other"), b"x").expect("written");
        std::fs::write(path("prompts.jsonl"), "{}\n".repeat(200)).expect("written");
        thin(folder.path(), 41, 1500).expect("thinned");
        let there = |call: u32| path(&format!("call-{call}.out")).exists();
        let kept: Vec<u32> = (1..=40).filter(|it| there(*it)).collect();
        assert_eq!(kept, [7, 32, 33, 34, 35, 36, 37, 38, 39, 40]);
        assert!(!path("check-1-tests.log").exists() && path("check-7-tests.log").exists());
        assert_eq!(gone(folder.path()), Some(Gone { calls: 30, bytes: 4500 }));
        let prompts = std::fs::read_to_string(path("prompts.jsonl")).expect("text");
        assert!(prompts.len() <= 47 && prompts.starts_with("{}\n"), "{prompts:?}");
        thin(folder.path(), 41, 0).expect("thinned");
        assert_eq!((1..=40).filter(|it| there(*it)).collect::<Vec<_>>(), [39, 40]);
        assert!(path("loop.other").exists() && path("calls.log").exists());
    }
}
