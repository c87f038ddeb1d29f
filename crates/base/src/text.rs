//! Text from agents and tools made safe to show. Whatever a program printed, nothing of it can move
//! a cursor, set a title, fill a clipboard, hide or reorder what stands on the screen. It is for
//! display only; files and reports keep the original.

/// Returns the text without control sequences, control characters, and characters that reorder or
/// hide text. Newline and tab stay; a carriage return becomes a newline, so that a line cannot be
/// overwritten by its own end.
pub fn sanitise(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = match character {
            '\n' | '\t' => {
                clean.push(character);
                after
            }
            '\r' => {
                if !after.starts_with('\n') {
                    clean.push('\n');
                }
                after
            }
            ESCAPE => after_escape(after),
            '\u{9b}' => after_parameters(after),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => after_string(after),
            _ if character.is_control() || is_invisible(character) => after,
            _ => {
                clean.push(character);
                after
            }
        };
    }
    clean
}

/// Takes colour codes, links and cursor movements out of a text; everything else stays as it is.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(ESCAPE) {
        plain.push_str(before);
        rest = after_escape(after);
    }
    plain.push_str(rest);
    plain
}

const ESCAPE: char = '\u{1b}';

/// What an escape introduces: a control sequence, a string, or a short function.
fn after_escape(text: &str) -> &str {
    let Some(introducer) = text.chars().next() else { return text };
    let after = &text[introducer.len_utf8()..];
    match introducer {
        '[' => after_parameters(after),
        'P' | 'X' | ']' | '^' | '_' => after_string(after),
        ' '..='/' => {
            let after = after.trim_start_matches(|it| matches!(it, ' '..='/'));
            after.strip_prefix(|it| matches!(it, '0'..='~')).unwrap_or(after)
        }
        '0'..='~' => after,
        // Anything else is no sequence: the escape goes and the text stays.
        _ => text,
    }
}

fn after_parameters(text: &str) -> &str {
    let after = text.trim_start_matches(|it| matches!(it, '0'..='?'));
    let after = after.trim_start_matches(|it| matches!(it, ' '..='/'));
    after.strip_prefix(|it| matches!(it, '@'..='~')).unwrap_or(after)
}

/// A string that does not end on its line loses only its introducer: a stray escape must not swallow
/// the rest of the output, and without the escape its text is only text.
fn after_string(text: &str) -> &str {
    for (at, character) in text.char_indices() {
        match character {
            '\u{7}' | '\u{9c}' => return &text[at + character.len_utf8()..],
            ESCAPE => return text[at + 1..].strip_prefix('\\').unwrap_or(&text[at..]),
            '\n' => return text,
            _ => {}
        }
    }
    text
}

/// Characters that take no space and reorder, join, split or hide their neighbours.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Writes a text as one word of a shell, without quotes where none are needed.
pub fn shell_word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+,:@%=".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    match word.contains(['"', '$', '`', '\\', '!']) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => format!("\"{word}\""),
    }
}

/// Writes how many there are of something, whose name is given for one of it.
pub fn counted<N: std::fmt::Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = match noun.ends_with('s') {
        _ if number == N::from(1) => "",
        true => "es",
        false => "s",
    };
    format!("{number} {noun}{plural}")
}

/// Writes a number of bytes as people say it.
pub fn bytes(count: u64) -> String {
    let (mut whole, mut unit) = (count as f64, 0);
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    while 1000.0 <= whole && unit + 1 < UNITS.len() {
        whole /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{whole:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::{is_invisible, sanitise};
    use proptest::prelude::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (raw, clean) in [
            ("plain äöü 漢字 🙂\n\tnext", "plain äöü 漢字 🙂\n\tnext"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;ZXZpbA==\u{9c}after", "after"),
            ("\u{9d}52;c;ZXZpbA==\u{7}after", "after"),
            ("\u{1b}P+q544e\u{1b}\\after", "after"),
            ("\u{1b}_apc\u{1b}\\\u{1b}^pm\u{1b}\\\u{1b}Xsos\u{1b}\\after", "after"),
            ("\u{1b}(0x\u{1b}#8y\u{1b}cz", "xyz"),
            ("\u{1b}[?25l\u{1b}[2J\u{1b}[Hhome", "home"),
            ("\u{1b}[38:2::1:2:3mcolour", "colour"),
            ("\u{1b}]0;never ended\nnext", "0;never ended\nnext"),
            ("\u{1b}]0;broken by \u{1b}[31manother", "another"),
            ("\u{1b}", ""),
            ("a\u{1b}\u{1b}[mb", "ab"),
            ("safe\rFAKE", "safe\nFAKE"),
            ("dos\r\n", "dos\n"),
            ("a\u{8}b\u{0}c\u{7f}d\u{85}e", "abcde"),
            ("abc\u{202e}cba\u{2066}x\u{2069}", "abccbax"),
            ("zero\u{200b}wid\u{feff}th\u{200d}", "zerowidth"),
        ] {
            assert_eq!(sanitise(raw), clean, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(raw in "(\\PC|[\u{0}-\u{a0}]|\u{1b}[\\[\\]P_^X(]|[\u{200b}-\u{206f}]){0,60}") {
            let clean = sanitise(&raw);
            prop_assert!(clean.chars().all(|it| it == '\n' || it == '\t' || !(it.is_control() || is_invisible(it))));
            prop_assert_eq!(sanitise(&clean), clean);
        }

        #[test]
        fn printable_ascii_is_kept(raw in "[ -~\n\t]{0,60}") {
            prop_assert_eq!(sanitise(&raw), raw);
        }
    }
}
