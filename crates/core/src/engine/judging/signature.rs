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
        let words: Vec<&str> = line.split_whitespace().collect();
        let shown = (0..words.len()).map(|it| if is_length(&words, it) { "TIME" } else { word(words[it]) });
        let before = out.len();
        for word in shown {
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

/// A number that is a length of time by what stands beside it: `duration_ms: 1.65`, `time="0.2"`, `1.2 s`.
fn is_length(words: &[&str], index: usize) -> bool {
    let (key, value) = match words[index].split_once('=') {
        Some((key, value)) if !value.is_empty() => (Some(key), value),
        Some(_) | None => (index.checked_sub(1).map(|it| words[it]), words[index]),
    };
    let is_number = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_digit())
            && it.chars().all(|it| it.is_ascii_digit() || it == '.')
    };
    let names_it = key.is_some_and(|it| {
        let name = bare(it).to_ascii_lowercase();
        name == "time" || ["duration", "elapsed"].iter().any(|it| name.contains(it))
    });
    let has_unit = words.get(index + 1).is_some_and(|it| UNITS.contains(&bare(it)));
    is_number(bare(value)) && (names_it || has_unit)
}

/// What a length of time is counted in.
const UNITS: [&str; 10] = ["ns", "us", "µs", "ms", "s", "sec", "secs", "m", "min", "h"];

fn bare(word: &str) -> &str {
    word.trim_matches(|it: char| "()[]{}<>,;:'\"`=".contains(it))
}

/// Returns the word, or what stands for its kind.
fn word(word: &str) -> &str {
    let bare = bare(word);
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
    dated || (is_number && UNITS.contains(&unit))
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

    /// As node, JUnit and Jest print them.
    #[test]
    fn a_number_is_a_length_of_time_by_what_stands_beside_it() {
        for (one, two) in [
            ("duration_ms: 1.655114\n  error: '-1 == 3'", "duration_ms: 22.3\n  error: '-1 == 3'"),
            ("# duration_ms 1118.57", "# duration_ms 9"),
            ("<testcase name=\"a\" time=\"0.21\">", "<testcase name=\"a\" time=\"3\">"),
            ("Time:        1.234 s, estimated 2 s", "Time:        0.9 s, estimated 1 s"),
        ] {
            assert_eq!(signature(one), signature(two), "{one}");
        }
        assert_ne!(signature("called 3 times, 4.5 wanted"), signature("called 3 times, 5.5 wanted"));
    }

    #[test]
    fn other_words_and_other_lines_are_another_error() {
        assert_ne!(signature("error in a.rs line 3"), signature("error in a.rs line 4"));
        assert_ne!(signature("expected 3, got 4"), signature("expected 3, got 5"));
    }
}
