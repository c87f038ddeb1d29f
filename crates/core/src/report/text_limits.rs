//! What of a report is kept, and how much of it. An agent may write anything of any length, and what
//! it wrote ends in the journal, in mirrors, in the next prompt and on terminals; so every text passes
//! through here once. Nothing here knows a protocol.

use super::{Report, VERDICT};
use loop_base::value::Value;

/// The four presets together use fewer than forty names; five times that is somebody's idea of a
/// joke or a dump of a log.
const METRICS_KEPT: usize = 200;
/// As long as the names that a condition can use are in practice, twice.
const METRIC_NAME_CHARS: usize = 64;
/// A verdict, a score, a task's name. What is longer is prose, and no condition compares prose.
pub(super) const TEXT_CHARS: usize = 500;
/// An error is compared by a hash of its full text, so it keeps as much as one failing log may
/// take in a prompt.
pub(super) const ERROR_CHARS: usize = 8_000;
/// A page, for people.
pub(super) const SUMMARY_CHARS: usize = 4_000;
/// Blockers, deliverables, gates, items: one list that a person could still read.
const LIST_ENTRIES: usize = 200;
/// Notes go into the next prompt; after twenty the agent has been told enough.
const NOTES_KEPT: usize = 20;
const NOTE_CHARS: usize = 300;
/// What a note quotes of the agent's own words.
const QUOTE_CHARS: usize = 60;

impl Report {
    /// Says what was odd. The same note is kept once.
    pub(super) fn note(&mut self, text: &str) {
        let text = clean(text, NOTE_CHARS);
        if self.notes.len() < NOTES_KEPT && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Keeps a metric under the snake_case of its name; a later value replaces an earlier one.
    pub(super) fn keep(&mut self, name: &str, value: Value) {
        let Some(key) = metric_name(name) else {
            return self.note(&format!("{} cannot name a metric", quote(name)));
        };
        if self.metrics.len() >= METRICS_KEPT && !self.metrics.contains_key(&key) {
            return self.note(&format!("more than {METRICS_KEPT} metrics; the others were ignored"));
        }
        let value = match value {
            Value::Text(text) => {
                if text.chars().nth(TEXT_CHARS).is_some() {
                    self.note(&format!("{key} was cut to {TEXT_CHARS} characters"));
                }
                Value::Text(clean(&text, TEXT_CHARS))
            }
            Value::Bool(_) | Value::Int(_) | Value::Number(_) => value,
        };
        self.metrics.insert(key, value);
    }

    /// Keeps a verdict: always a text, in capitals, so that `approve` and `APPROVE` are one word.
    pub(super) fn keep_verdict(&mut self, text: &str) {
        self.keep(VERDICT, Value::Text(text.trim().to_ascii_uppercase()));
    }
}

/// Adds an entry to one of the report's lists; false when the list is full.
pub(super) fn push(list: &mut Vec<String>, text: &str) -> bool {
    let has_room = list.len() < LIST_ENTRIES;
    if has_room {
        list.push(clean(text, TEXT_CHARS));
    }
    has_room
}

/// Returns the text without what could hide or reorder other text, at most so many characters long.
/// Such characters are replaced rather than dropped, so that a word with one inside it does not turn
/// into the word without it.
pub(super) fn clean(text: &str, most_chars: usize) -> String {
    let kept = text.trim().chars().take(most_chars);
    kept.map(|it| match it {
        '\n' => '\n',
        '\t' | '\r' => ' ',
        _ if it.is_control() || is_invisible(it) => char::REPLACEMENT_CHARACTER,
        _ => it,
    })
    .collect()
}

/// Returns the beginning of an agent's words in quotation marks, on one line.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", beginning(text))
}

/// Returns the beginning of an agent's words on one line.
pub(super) fn beginning(text: &str) -> String {
    let shown = clean(text, QUOTE_CHARS).replace('\n', " ");
    let cut = if text.trim().chars().nth(QUOTE_CHARS).is_some() { "…" } else { "" };
    format!("{shown}{cut}")
}

/// Whether a value is a hole in a template that was copied and not filled in.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let pairs = [('[', ']'), ('{', '}'), ('<', '>')];
    value.contains(" | ")
        || value.starts_with("${")
        || pairs.iter().any(|(open, close)| value.starts_with(*open) && value.ends_with(*close))
}

/// Whether a value says that there is nothing: `none`, in any case.
pub(super) fn is_none(value: &str) -> bool {
    let value = value.trim();
    value.is_empty() || value.eq_ignore_ascii_case("none")
}

/// Joiners stay, because scripts and emoji need them; marks of direction, spaces without width and
/// separators of lines go.
fn is_invisible(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the snake_case of a name, if it is one: `TOTAL`, `testsTotal` and `tests-total` are;
/// a name with letters from elsewhere is not.
fn metric_name(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut after_small = false;
    for it in text.trim().chars() {
        match it {
            'a'..='z' | '0'..='9' | '_' => name.push(it),
            'A'..='Z' if after_small => name.extend(['_', it.to_ascii_lowercase()]),
            'A'..='Z' => name.push(it.to_ascii_lowercase()),
            '-' | ' ' | '.' => name.push('_'),
            _ => return None,
        }
        after_small = it.is_ascii_lowercase();
        if name.len() > METRIC_NAME_CHARS {
            return None;
        }
    }
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case_or_nothing() {
        let cases = [
            ("TOTAL", Some("total")),
            ("testsTotal", Some("tests_total")),
            ("has-adr", Some("has_adr")),
            ("Has ADR", Some("has_adr")),
            ("5H_LIMIT", Some("5h_limit")),
            ("", None),
            ("тests", None),
            ("a\u{200b}b", None),
            ("a/b", None),
        ];
        for (text, name) in cases {
            assert_eq!(metric_name(text).as_deref(), name, "{text}");
        }
        assert_eq!(metric_name(&"A".repeat(64)), Some("a".repeat(64)));
        assert_eq!(metric_name(&"A".repeat(65)), None);
    }

    #[test]
    fn invisible_characters_are_replaced_and_never_dropped() {
        assert_eq!(clean(" APP\u{200b}ROVE ", 99), "APP\u{fffd}ROVE");
        assert_eq!(clean("a\u{202e}b\u{1b}[0m\0\u{9b}", 99), "a\u{fffd}b\u{fffd}[0m\u{fffd}\u{fffd}");
        assert_eq!(clean("a\tb\rc\nd", 99), "a b c\nd");
        assert_eq!(clean("zażółć", 3), "zaż");
        assert_eq!(clean("👩\u{200d}🔬", 99), "👩\u{200d}🔬");
    }

    #[test]
    fn a_report_keeps_only_so_much() {
        let mut report = Report::default();
        for number in 0..1_000 {
            report.keep(&format!("m{number}"), Value::Int(number));
            report.note(&format!("note {number}"));
            push(&mut report.blockers, "stuck");
        }
        report.keep("m7", Value::Text("x".repeat(9_000)));
        assert_eq!(report.metrics.len(), METRICS_KEPT);
        assert_eq!(report.metrics["m7"], Value::Text("x".repeat(TEXT_CHARS)));
        assert_eq!((report.notes.len(), report.blockers.len()), (NOTES_KEPT, LIST_ENTRIES));
    }

    #[test]
    fn holes_of_templates_are_known() {
        for text in ["[signal]", "{{SIGNAL}}", "${SIGNAL}", "<signal>", "passed | gaps_found", "{verdict}"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["TASK_COMPLETE", "a|b", "", "STUCK: [x] failed"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
