//! A check's log, read once: what the runner counted, its hash, and the head and tail that people
//! and prompts are shown. It takes constant memory, whatever the log's size.

use crate::measure::counts::{CountReader, TestCounts};
use loop_core::proof::CountFormat;
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Longer lines are data; no runner writes a summary in one.
const LONGEST_LINE: u64 = 64 << 10;

/// One failing log fills at most twice this in a prompt: enough for the first error and the summary
/// of every runner we know, and small beside the context of any model.
const EXCERPT_HALF: usize = 4 << 10;

pub(crate) struct Log {
    pub counts: Option<TestCounts>,
    pub hash: String,
    pub excerpt: String,
}

pub(crate) fn read(path: &Path, format: Option<CountFormat>) -> io::Result<Log> {
    let mut file = BufReader::with_capacity(64 << 10, loop_base::files::open(path)?);
    let mut reader = format.map(CountReader::new);
    let mut digest = Sha256::new();
    let mut head = Vec::new();
    let mut tail = Vec::new();
    let mut bytes = 0usize;
    let mut line = Vec::new();
    loop {
        line.clear();
        if file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        digest.update(&line);
        bytes += line.len();
        if let Some(reader) = &mut reader {
            reader.line(line.strip_suffix(b"\n").unwrap_or(&line));
        }
        let room = EXCERPT_HALF.saturating_sub(head.len());
        let (first, rest) = line.split_at(room.min(line.len()));
        head.extend_from_slice(first);
        tail.extend_from_slice(rest);
        if 2 * EXCERPT_HALF < tail.len() {
            tail.drain(..tail.len() - EXCERPT_HALF);
        }
    }
    tail.drain(..tail.len().saturating_sub(EXCERPT_HALF));
    let cut = bytes - head.len() - tail.len();
    let mut excerpt = String::from_utf8_lossy(&head).into_owned();
    if 0 < cut {
        excerpt.push_str(&format!("\n[… {cut} bytes of the log omitted …]\n"));
    }
    excerpt.push_str(&String::from_utf8_lossy(&tail));
    let hash = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Log { counts: reader.and_then(CountReader::finish), hash, excerpt })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn head_and_tail_are_kept_and_what_was_cut_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let body: String = (0..5000).map(|it| format!("line {it}\n")).collect();
        std::fs::write(&path, &body).expect("written");
        let log = read(&path, None).expect("readable");
        assert!(log.excerpt.starts_with("line 0\n"));
        assert!(log.excerpt.ends_with("line 4999\n"));
        assert!(log.excerpt.contains(&format!("{} bytes of the log omitted", body.len() - 8192)));
    }

    #[test]
    fn a_short_log_is_kept_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        std::fs::write(&path, "a\nb").expect("written");
        assert_eq!(read(&path, None).expect("readable").excerpt, "a\nb");
    }
}
