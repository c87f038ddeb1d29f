//! One output of a process on its way to disk. The head is kept up to a limit, then only the last
//! mebibyte, which is written at the end: the final message of an agent stands there. Memory is
//! bounded whatever comes, and a disk that is full costs output, never the call.

use crate::process::waits_for_input::LAST_BYTES;
use loop_base::secret::{Redactor, known};
use rustix::fs::OFlags;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// What is kept of the end once the head is full. Final messages are some kilobytes; a whole mebibyte
/// also holds a last line that carries a large tool result.
const TAIL_BYTES: usize = 1024 * 1024;

const CAREFUL: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits() as i32;

/// An output file in the making.
pub(crate) struct Capture {
    path: PathBuf,
    file: Option<File>,
    limit_bytes: u64,
    written: u64,
    total: u64,
    /// What came after the head was full, or after the disk was.
    tail: Option<VecDeque<u8>>,
    trouble: Option<String>,
    /// The last bytes that came, for whoever asks what the process said last.
    last: Vec<u8>,
    /// What is on disk can be shown to anybody who may see the run. Nothing while it works.
    redactor: Option<Redactor>,
}

impl Capture {
    /// Captures into a file that is open.
    pub(crate) fn into_file(path: PathBuf, file: File, limit_bytes: u64) -> Capture {
        Capture { file: Some(file), ..Capture::on_demand(path, limit_bytes) }
    }

    /// Captures into a file that is made when there is something to write: most calls have no
    /// complaints, and creating a file costs more than anything else here.
    pub(crate) fn on_demand(path: PathBuf, limit_bytes: u64) -> Capture {
        Capture {
            path,
            file: None,
            limit_bytes,
            written: 0,
            total: 0,
            tail: None,
            trouble: None,
            last: Vec::new(),
            redactor: Some(Redactor::new(known())),
        }
    }

    /// Returns the bytes that came, kept or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the last bytes that came.
    pub(crate) fn last(&self) -> &[u8] {
        &self.last
    }

    /// Takes the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.redacted(|redactor, out| redactor.push(bytes, out));
    }

    /// Has the redactor pass on what is safe to write.
    fn redacted(&mut self, pass: impl FnOnce(&mut Redactor, &mut dyn FnMut(&[u8]))) {
        let Some(mut redactor) = self.redactor.take() else { return };
        pass(&mut redactor, &mut |it| self.put(it));
        self.redactor = Some(redactor);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let end = &bytes[bytes.len().saturating_sub(LAST_BYTES)..];
        let surplus = (self.last.len() + end.len()).saturating_sub(LAST_BYTES);
        self.last.drain(..surplus);
        self.last.extend_from_slice(end);
        if self.tail.is_none() {
            let room = usize::try_from(self.limit_bytes - self.written).unwrap_or(usize::MAX);
            let (head, rest) = bytes.split_at(room.min(bytes.len()));
            let unwritten = &head[self.write(head)..];
            if !unwritten.is_empty() || !rest.is_empty() {
                self.keep(unwritten);
                self.keep(rest);
            }
        } else {
            self.keep(bytes);
        }
    }

    /// Writes what was kept of the end; returns whether bytes are missing, and what went wrong.
    pub(crate) fn finish(&mut self) -> (bool, Option<String>) {
        self.redacted(|redactor, out| redactor.finish(out));
        let tail = Vec::from(self.tail.take().unwrap_or_default());
        let missing = self.total - self.written - tail.len() as u64;
        let mut end = Vec::with_capacity(tail.len() + 64);
        if missing > 0 {
            end.extend_from_slice(format!("\n[{missing} bytes omitted here]\n").as_bytes());
        }
        end.extend_from_slice(&tail);
        let written = self.write(&end);
        (missing > 0 || written < end.len(), self.trouble.take())
    }

    /// Makes what was written survive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// Returns how much could be written; the first trouble is the one that is told.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len() {
            let result = self.file().and_then(|mut it| it.write(&bytes[done..]));
            match result {
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    self.trouble.get_or_insert_with(|| format!("{name} is incomplete: {error}"));
                    break;
                }
            }
        }
        self.written += done as u64;
        done
    }

    fn file(&mut self) -> io::Result<&File> {
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            options.create(true).write(true).truncate(true).mode(0o600);
            // An agent knows the folder: through a link the output would overwrite something else, and
            // a named pipe that nobody reads would hold the shim forever.
            let file = options.custom_flags(CAREFUL).open(&self.path)?;
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("it is not a file"));
            }
            self.file = Some(file);
        }
        Ok(self.file.as_ref().expect("made above"))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let tail = self.tail.get_or_insert_with(|| VecDeque::with_capacity(TAIL_BYTES));
        let bytes = &bytes[bytes.len().saturating_sub(TAIL_BYTES)..];
        let surplus = (tail.len() + bytes.len()).saturating_sub(TAIL_BYTES);
        tail.drain(..surplus);
        tail.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, TAIL_BYTES};
    use std::fs;

    #[test]
    fn nothing_makes_no_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("call-1.err");
        let mut capture = Capture::on_demand(path.clone(), 10);
        assert_eq!(capture.finish(), (false, None));
        assert!(!path.exists());
    }

    #[test]
    fn a_little_too_much_is_kept_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("call-1.out");
        let mut capture = Capture::on_demand(path.clone(), 4);
        capture.take(b"abc");
        capture.take(b"defg");
        capture.take(b"h");
        assert_eq!(capture.finish(), (false, None));
        assert_eq!((capture.total(), fs::read(path).expect("readable")), (8, b"abcdefgh".to_vec()));
    }

    #[test]
    fn far_too_much_keeps_head_and_tail() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("call-1.out");
        let mut capture = Capture::on_demand(path.clone(), 4);
        capture.take(b"head");
        for _ in 0..3 {
            capture.take(&vec![b'x'; TAIL_BYTES - 1]);
        }
        capture.take(b"END");
        assert_eq!(capture.finish(), (true, None));
        let kept = fs::read(path).expect("readable");
        let missing = 2 * TAIL_BYTES;
        let mut expected = format!("head\n[{missing} bytes omitted here]\n").into_bytes();
        expected.extend(vec![b'x'; TAIL_BYTES - 3]);
        expected.extend(b"END");
        assert_eq!(kept.len(), expected.len());
        assert!(kept == expected);
    }

    #[test]
    fn a_full_disk_is_told_and_survived() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let mut capture = Capture::into_file("/run/call-1.out".into(), full, 100);
        capture.take(b"abc");
        capture.take(b"def");
        let (cut, trouble) = capture.finish();
        assert!(cut);
        assert_eq!(
            trouble.as_deref(),
            Some("call-1.out is incomplete: No space left on device (os error 28)")
        );
        assert_eq!(capture.total(), 6);
    }
}
