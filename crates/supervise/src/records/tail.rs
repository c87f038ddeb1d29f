//! The end of an output file as text, for people and for messages. It reads only what it shows, so
//! its cost does not grow with the file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// Returns at most the last `limit_bytes` of the file as text. Where that is not the whole file it
/// starts at the beginning of a line, or, inside one very long line, at a whole character. Bytes that
/// are no UTF-8 are replaced.
pub fn tail(path: &Path, limit_bytes: u64) -> io::Result<String> {
    // An agent knows the folder, and a named pipe that nobody writes to would hold us forever.
    let mut file = File::options().read(true).custom_flags(NONBLOCK).open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(limit_bytes);
    // One byte more, to see whether the cut falls on a line's end anyway.
    let from = skipped.saturating_sub(1);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    // The file may be growing; what comes after its length was taken belongs to the next look.
    file.take(length - from).read_to_end(&mut bytes)?;
    let text = if skipped == 0 { &bytes[..] } else { from_line(&bytes) };
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The first byte stands before the cut and is never returned.
fn from_line(bytes: &[u8]) -> &[u8] {
    let is_inside_character = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    let line = bytes.iter().position(|it| *it == b'\n').map(|it| it + 1).filter(|it| *it < bytes.len());
    let start = line.unwrap_or_else(|| {
        // A character has at most three bytes after its first.
        let inside = bytes.iter().skip(1).take(3).take_while(|it| is_inside_character(**it));
        bytes.len().min(1 + inside.count())
    });
    &bytes[start..]
}

#[cfg(test)]
mod tests {
    use super::tail;

    fn tail_of(bytes: &[u8], limit: u64) -> String {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("out");
        std::fs::write(&path, bytes).expect("written");
        tail(&path, limit).expect("readable")
    }

    #[test]
    fn starts_at_a_line() {
        assert_eq!(tail_of(b"one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
        assert_eq!(tail_of(b"one\ntwo\nthree\n", 14), "one\ntwo\nthree\n");
        assert_eq!(tail_of(b"one\ntwo\nthree\n", 10), "two\nthree\n");
        assert_eq!(tail_of(b"one\ntwo\nthree\n", 9), "three\n");
        assert_eq!(tail_of(b"one\ntwo\nthree", 6), "three");
        assert_eq!(tail_of(b"", 10), "");
        assert_eq!(tail_of(b"one\n", 0), "");
    }

    #[test]
    fn one_long_line_is_cut_at_a_character() {
        assert_eq!(tail_of("aé€😀z".as_bytes(), 4), "z");
        assert_eq!(tail_of("aé€😀z".as_bytes(), 5), "😀z");
        assert_eq!(tail_of("aé€😀z\n".as_bytes(), 3), "z\n");
        assert_eq!(tail_of(b"x\xff\x00y", 3), "\u{fffd}\0y");
    }
}
