//! What makes two errors the same error: SHA-256 over the text with everything removed that
//! differs from one run to the next. Colour, times, durations, addresses and temporary paths go;
//! words, names and line numbers stay.

use sha2::{Digest, Sha256};

/// Returns the signature of an error text, in hexadecimal.
pub fn signature(text: &str) -> String {
    let digest = Sha256::digest(normalise(text).as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Longer words are data (encoded blobs, minified code) and say nothing about which error it is.
const LONGEST_WORD: usize = 200;

fn normalise(text: &str) -> String {
    let plain = without_colour(text);
    let mut out = String::with_capacity(plain.len());
    for line in plain.lines() {
        let words = line.split_whitespace().map(word).filter(|it| !it.is_empty());
        let before = out.len();
        for word in words {
            if before < out.len() {
                out.push(' ');
            }
            out.push_str(word);
        }
        if before < out.len() {
            out.push('\n');
        }
    }
    out
}

/// Returns the word, or what stands for its kind.
fn word(word: &str) -> &str {
    let bare = word.trim_matches(|it: char| "()[]{}<>,;:'\"`=".contains(it));
    if LONGEST_WORD < bare.len() {
        return "LONG";
    }
    if is_temporary(bare) {
        return "TMP";
    }
    if is_address(bare) {
        return "ADDR";
    }
    if is_time(bare) {
        return "TIME";
    }
    word
}

fn is_temporary(word: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/var/folders/", "/private/var/"].iter().any(|it| word.contains(it))
}

fn is_address(word: &str) -> bool {
    let Some((_, digits)) = word.split_once("0x") else { return false };
    4 <= digits.len() && digits.chars().all(|it| it.is_ascii_hexdigit())
}

/// A clock time, a date, or a length of time: digits with the marks and units of one.
fn is_time(word: &str) -> bool {
    let starts = word.starts_with(|it: char| it.is_ascii_digit());
    if !starts {
        return false;
    }
    let marks = word.chars().filter(|it| matches!(it, ':' | '-')).count();
    let dated = 2 <= marks && word.chars().all(|it| it.is_ascii_digit() || ":-.TZ+".contains(it));
    let number = word.trim_end_matches(|it: char| it.is_ascii_alphabetic() || it == 'µ');
    let unit = &word[number.len()..];
    let is_number = number.chars().all(|it| it.is_ascii_digit() || it == '.');
    dated || (is_number && ["ns", "us", "µs", "ms", "s", "sec", "secs", "m", "min", "h"].contains(&unit))
}

fn without_colour(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        if it != '\u{1b}' {
            out.push(it);
        } else if rest.next_if_eq(&'[').is_some() {
            while rest.next().is_some_and(|it| !('@'..='~').contains(&it)) {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn what_changes_from_run_to_run_does_not_count() {
        let one = "\u{1b}[31merror\u{1b}[0m at 2026-11-15T09:00:00Z in /tmp/a1b2/x (0x7ffde01) after 0.31s";
        let two = "error  at 2026-11-15T10:11:12Z in /tmp/zzz/x (0x7ffabcd) after 12ms\n";
        assert_eq!(signature(one), signature(two));
    }

    #[test]
    fn other_words_and_other_lines_are_another_error() {
        assert_ne!(signature("error in a.rs line 3"), signature("error in a.rs line 4"));
        assert_ne!(signature("expected 3, got 4"), signature("expected 3, got 5"));
    }
}
