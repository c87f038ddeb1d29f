//! The last words of a session, from the end of its transcript: for agents that do not send them
//! with the stop. Only the end is read, so the cost does not grow with the conversation. A
//! transcript that does not end with the assistant's words says nothing.

use serde::Deserialize;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A last message is rarely longer than a page; this holds it, and what surrounds it, many times
/// over.
const TAIL_BYTES: u64 = 256 << 10;

/// Returns the last message of the assistant.
pub(crate) fn last_message(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    // A pipe in its place must not keep us waiting.
    let file = std::fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
    let mut file = file.map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    let tail = tail(&mut file).map_err(failed)?;
    last_of(&tail).ok_or_else(|| format!("{} does not end with the session's words", path.display()))
}

/// Returns the whole lines at the end.
fn tail(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(length - from).read_to_end(&mut bytes)?;
    if 0 < from {
        let whole = bytes.iter().position(|it| *it == b'\n').map_or(bytes.len(), |it| it + 1);
        bytes.drain(..whole);
    }
    Ok(bytes)
}

#[derive(Deserialize)]
struct TranscriptEntry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "isSidechain", default)]
    is_sidechain: bool,
    message: Option<TranscriptMessage>,
}

#[derive(Deserialize)]
struct TranscriptMessage {
    id: Option<String>,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<TranscriptBlock>),
}

#[derive(Deserialize)]
struct TranscriptBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

/// Each block of a message stands on a line of its own, under the message's id.
pub(crate) fn last_of(tail: &[u8]) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut id: Option<Option<String>> = None;
    for line in tail.split(|it| *it == b'\n').rev() {
        let Ok(entry) = serde_json::from_slice::<TranscriptEntry>(line) else { continue };
        match entry.kind.as_str() {
            "assistant" if !entry.is_sidechain => {
                let message = entry.message?;
                if id.as_ref().is_some_and(|it| *it != message.id) {
                    break;
                }
                id = Some(message.id);
                texts.extend(message.content.map(said));
            }
            "user" if !entry.is_sidechain => break,
            _ => (),
        }
    }
    texts.reverse();
    id.map(|_| texts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn said(content: Content) -> String {
    match content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            let texts = blocks.into_iter().filter(|it| it.kind == "text").filter_map(|it| it.text);
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TAIL_BYTES, last_message, last_of, tail};
    use std::io::{Read, Seek, SeekFrom, Write};

    fn line(kind: &str, id: &str, block: &str) -> String {
        format!("{{\"type\":\"{kind}\",\"message\":{{\"id\":\"{id}\",\"content\":[{block}]}}}}\n")
    }

    fn text(words: &str) -> String {
        format!("{{\"type\":\"text\",\"text\":\"{words}\"}}")
    }

    #[test]
    fn the_blocks_of_the_last_message_are_its_words() {
        let session = [
            line("assistant", "m1", &text("old <promise>X</promise>")),
            line("user", "u", "{\"type\":\"tool_result\",\"content\":[]}"),
            line("assistant", "m2", "{\"type\":\"thinking\",\"thinking\":\"no\"}"),
            line("assistant", "m2", &text("one")),
            "{\"type\":\"system\",\"subtype\":\"hook\"}\n".to_owned(),
            line("assistant", "m2", &text("two")),
            "not json\n{\"type\":\"assistant\",\"isSidechain\":true,\"message\":{\"content\":\"aside\"}}\n"
                .to_owned(),
        ]
        .concat();
        assert_eq!(last_of(session.as_bytes()).as_deref(), Some("one\ntwo"));
        let lagging = format!("{session}{}", line("user", "u", &text("go on")));
        assert_eq!(last_of(lagging.as_bytes()), None);
        assert_eq!(last_of(b""), None);
    }

    /// Counts what is read.
    struct Counted<'a> {
        file: &'a std::fs::File,
        bytes: u64,
    }

    impl Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.file.read(buffer)?;
            self.bytes += count as u64;
            Ok(count)
        }
    }

    impl Seek for Counted<'_> {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.file.seek(to)
        }
    }

    #[test]
    fn p5_a_gigabyte_costs_no_more_than_the_tail() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("session.jsonl");
        let end = line("assistant", "m", &text("done"));
        let mut read = Vec::new();
        for length in [1 << 10, 1 << 20, 1 << 30] {
            let mut file =
                std::fs::File::options().create(true).write(true).truncate(true).open(&path).expect("a file");
            // Sparse: nothing but the end is on the disk.
            file.seek(SeekFrom::Start(length - end.len() as u64 - 1)).expect("seek");
            file.write_all(b"\n").expect("written");
            file.write_all(end.as_bytes()).expect("written");
            let file = std::fs::File::open(&path).expect("a file");
            let mut counted = Counted { file: &file, bytes: 0 };
            let tail = tail(&mut counted).expect("readable");
            assert_eq!(last_of(&tail).as_deref(), Some("done"));
            assert_eq!(last_message(&path).as_deref(), Ok("done"));
            read.push(counted.bytes);
        }
        assert_eq!(read, [1 << 10, TAIL_BYTES, TAIL_BYTES]);
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a pipe");
        for path in [pipe.as_path(), dir.path(), "/dev/zero".as_ref(), "/no/such".as_ref()] {
            assert!(last_message(path).is_err(), "{}", path.display());
        }
    }
}
