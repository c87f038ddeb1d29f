//! Text as a terminal shows it: without the sequences and characters that take no space, and with the
//! way back to where everything stood. A secret that is printed in two colours is one secret.

use std::borrow::Cow;

/// What is written without control characters and still hides something: escapes of JSON and of
/// debuggers, and characters of no width.
pub(super) const HIDDEN: &[&str] = &[
    "\\u001b", "\\u001B", "\\x1b", "\\u200b", "\\u200c", "\\u200d", "\\u2060", "\\ufeff", "\\u00ad",
    "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{ad}", "\u{9b}",
];

/// An escape sequence is longer only in a hyperlink or a title; those are cut off here.
const SEQUENCE_MOST: usize = 512;

pub(super) struct DecodedText<'a> {
    pub text: Cow<'a, [u8]>,
    /// For each byte of the text where it stood; nothing when all of it stands where it stood.
    places: Vec<u32>,
    whole: usize,
    /// Where a sequence begins that has no end yet.
    pub open: Option<usize>,
}

impl<'a> DecodedText<'a> {
    /// The bytes as they are.
    pub(super) fn plain(bytes: &'a [u8]) -> DecodedText<'a> {
        DecodedText { text: Cow::Borrowed(bytes), places: Vec::new(), whole: bytes.len(), open: None }
    }

    /// The bytes without what is not seen.
    pub(super) fn seen(bytes: &'a [u8]) -> DecodedText<'a> {
        let (mut text, mut places, mut open) = (Vec::with_capacity(bytes.len()), Vec::new(), None);
        let mut at = 0;
        while at < bytes.len() {
            match hidden(&bytes[at..]) {
                Hidden::No => {
                    text.push(bytes[at]);
                    places.push(u32::try_from(at).expect("a piece is some kilobytes"));
                    at += 1;
                }
                Hidden::Yes(length) => at += length,
                Hidden::Open => {
                    open = Some(at);
                    break;
                }
            }
        }
        DecodedText { text: Cow::Owned(text), places, whole: bytes.len(), open }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    /// Returns where the byte of this number stood; behind the last is the end.
    pub(super) fn place(&self, at: usize) -> usize {
        match self.places.get(at) {
            Some(place) => *place as usize,
            None if self.is_plain() => at,
            None => self.open.unwrap_or(self.whole),
        }
    }

    /// Returns where the text up to this byte ended.
    pub(super) fn place_after(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.place(at - 1) + 1 }
    }
}

/// Whether there are control characters beside those of ordinary text.
pub(super) fn has_controls(bytes: &[u8]) -> bool {
    // Whole blocks without a way out in between are looked at many bytes at a time.
    bytes.chunks(256).any(|block| block.iter().fold(false, |found, it| found | is_control(*it)))
}

/// Whether it is a control character beside those of ordinary text.
pub(super) fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\n' | b'\t' | b'\r') || byte == 0x7f
}

enum Hidden {
    No,
    Yes(usize),
    Open,
}

fn hidden(bytes: &[u8]) -> Hidden {
    if let b'\\' | 0xc2 | 0xe2 | 0xef = bytes[0] {
        let Some(found) = HIDDEN.iter().find(|it| bytes.starts_with(it.as_bytes())) else {
            return Hidden::No;
        };
        let introduces = ["\\u001b", "\\u001B", "\\x1b"].contains(found);
        return match (introduces, *found) {
            (true, _) => sequence(bytes, found.len()),
            (false, "\u{9b}") => parameters(bytes, found.len()),
            (false, _) => Hidden::Yes(found.len()),
        };
    }
    match bytes[0] {
        0x1b => sequence(bytes, 1),
        b'\n' | b'\t' | b'\r' => Hidden::No,
        0..0x20 | 0x7f => Hidden::Yes(1),
        _ => Hidden::No,
    }
}

/// What an escape introduces.
fn sequence(bytes: &[u8], after: usize) -> Hidden {
    match bytes.get(after) {
        None => Hidden::Open,
        Some(b'[') => parameters(bytes, after + 1),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end =
                bytes[after..].iter().take(SEQUENCE_MOST).position(|it| matches!(it, 0x07 | 0x1b | b'\n'));
            match end {
                Some(end) if bytes[after + end] == 0x07 => Hidden::Yes(after + end + 1),
                Some(end) if bytes[after + end] == 0x1b && bytes.get(after + end + 1) == Some(&b'\\') => {
                    Hidden::Yes(after + end + 2)
                }
                // Not ended: the introducer goes, and what follows is text.
                Some(_) => Hidden::Yes(after + 1),
                None if bytes.len() < SEQUENCE_MOST => Hidden::Open,
                None => Hidden::Yes(after + 1),
            }
        }
        Some(b'0'..=b'~') => Hidden::Yes(after + 1),
        Some(_) => Hidden::Yes(after),
    }
}

fn parameters(bytes: &[u8], from: usize) -> Hidden {
    let count = bytes[from..].iter().take_while(|it| matches!(it, b' '..=b'?')).count();
    match bytes.get(from + count) {
        Some(b'@'..=b'~') => Hidden::Yes(from + count + 1),
        Some(_) => Hidden::Yes(from + count),
        None if count < SEQUENCE_MOST => Hidden::Open,
        None => Hidden::Yes(from),
    }
}
