//! Turns the bytes of one printed line into the text a person would see. Colour codes are taken
//! out, bytes that are no UTF-8 become replacement characters, and a carriage return ends a line
//! as a line feed does, because a progress bar draws its last state and the summary behind it on
//! the same line. Cursor movements are taken out but not carried out: a check has no terminal, and
//! a runner without a terminal does not move a cursor.

use loop_base::text::without_escapes;

/// More of a line is not read. The longest line that carries counts is a JUnit report written
/// without line breaks, whose totals stand in its first kilobyte.
pub(super) const LINE_LIMIT: usize = 64 * 1024;

/// Calls `each` for every line of text in the given bytes, without its line ending.
pub(super) fn texts(bytes: &[u8], mut each: impl FnMut(&str)) {
    let bytes = &bytes[..bytes.len().min(LINE_LIMIT)];
    let end = bytes.iter().rposition(|it| !matches!(it, b'\r' | b'\n')).map_or(0, |it| it + 1);
    let text = String::from_utf8_lossy(&bytes[..end]);
    let plain = if text.contains('\u{1b}') { without_escapes(&text).into() } else { text };
    plain.split(['\r', '\n']).for_each(&mut each);
}

#[cfg(test)]
mod tests {
    use super::texts;

    fn read(bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        texts(bytes, |it| found.push(it.to_owned()));
        found
    }

    #[test]
    fn shows_what_a_person_would_see() {
        assert_eq!(read(b"\x1b[1m\x1b[31mFAILED\x1b[0m x\r\n"), ["FAILED x"]);
        assert_eq!(read(b" 10%\r 90%\r3 passed"), [" 10%", " 90%", "3 passed"]);
        assert_eq!(read(b"\x1b]8;;file:///a\x1b\\link\x1b]8;;\x07!"), ["link!"]);
        assert_eq!(read(b"\x1b[32mok\x1b(B\x1b[m. 3 passed"), ["ok. 3 passed"]);
        assert_eq!(read(b"caf\xe9 \xff"), ["caf\u{fffd} \u{fffd}"]);
        assert_eq!(read(b""), [""]);
        assert_eq!(read(b"a\x1b]0;title"), ["a0;title"]);
        for cut_short in [&b"a\x1b"[..], b"a\x1b[", b"a\x1b[3"] {
            assert_eq!(read(cut_short), ["a"]);
        }
    }
}
