//! The `promise` protocol: `<promise>TEXT</promise>` with the exact text that the run asked for. The
//! tag has to stand alone on its line or lines, in the text itself; one that is quoted, shown as code
//! or mentioned in a sentence promises nothing. The last tag counts.

use super::Report;
use super::block::{HIDDEN, Place, Survey};
use super::keep::quote;

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
/// A promise is a word or a sentence; agents break it over three lines at most.
const PROMISE_LINES: usize = 10;
/// Four spaces make a code block in Markdown.
const INDENT: usize = 3;

pub(super) fn read(promise: &str, text: &str) -> Report {
    let (mut last, mut begun, mut is_hidden) = (None, None, false);
    for line in Survey::of(text).lines() {
        let tag = line.text.trim_start_matches(' ');
        let indent = line.text.len() - tag.len();
        let begins = tag.starts_with(OPEN);
        if line.place != Place::Open || (begins && indent > INDENT) {
            is_hidden |= begins;
            begun = None;
            continue;
        }
        if begins {
            begun = Some(Begun { inner_from: line.start + indent + OPEN.len(), lines: 0 });
        }
        let Some(Begun { inner_from, lines }) = begun.take() else { continue };
        let looked_from = inner_from.max(line.start);
        let line_end = line.start + line.text.len();
        match text[looked_from..line_end].find(CLOSE) {
            Some(at) => {
                let inner = &text[inner_from..looked_from + at];
                let is_alone = looked_from + at + CLOSE.len() == line_end && !inner.contains(OPEN);
                last = if is_alone { Some(inner) } else { last };
            }
            None if lines < PROMISE_LINES => begun = Some(Begun { inner_from, lines: lines + 1 }),
            None => {}
        }
    }
    let mut report = Report { found: last.is_some(), ..Report::default() };
    match last {
        Some(given) if is_same(given, promise) => report.signal = Some(promise.to_owned().into()),
        Some(given) => report.note(&format!("unknown promise {}", quote(given))),
        None if is_hidden => report.note(HIDDEN),
        None => {}
    }
    report
}

/// A tag that was opened and not yet closed.
struct Begun {
    inner_from: usize,
    lines: usize,
}

/// Compares word by word. Only ASCII whitespace parts words: a promise with another kind of space in
/// it is another text. An empty promise is never given.
fn is_same(given: &str, promise: &str) -> bool {
    let mut words = promise.split_ascii_whitespace().peekable();
    words.peek().is_some() && words.eq(given.split_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::model::SignalWord;

    fn signal(text: &str) -> Option<String> {
        read("API COMPLETE", text).signal.map(String::from)
    }

    #[test]
    fn rt_16_inner_spaces_and_newlines_are_collapsed() {
        let given = [
            "<promise>API COMPLETE</promise>",
            "All done.\n<promise>API COMPLETE</promise>\n",
            "<promise>  API \t COMPLETE </promise>  \r\n",
            "<promise>\nAPI COMPLETE\n</promise>",
            "<promise>\r\n  API\r\n  COMPLETE\r\n</promise>\r\n",
            "  <promise>API\nCOMPLETE</promise>",
            "<promise>API COMPLETE</promise>\n\nThat was the last task.",
            "```\ncargo test\n```\n<promise>API COMPLETE</promise>",
        ];
        for text in given {
            assert_eq!(signal(text).as_deref(), Some("API COMPLETE"), "{text:?}");
        }
    }

    #[test]
    fn the_last_tag_wins_and_a_wrong_one_is_noted() {
        let right = "<promise>API COMPLETE</promise>";
        let wrong = "<promise>DONE</promise>";
        assert_eq!(signal(&format!("{wrong}\n{right}")).as_deref(), Some("API COMPLETE"));
        let report = read("API COMPLETE", &format!("{right}\n\n{wrong}"));
        let expected =
            Report { found: true, notes: vec!["unknown promise \"DONE\"".into()], ..Report::default() };
        assert_eq!(report, expected);
    }

    #[test]
    fn the_comparison_is_literal() {
        for text in
            ["api complete", "API.COMPLETE", "API COMPLETE.", "API\u{a0}COMPLETE", "APICOMPLETE", ".*", ""]
        {
            assert_eq!(signal(&format!("<promise>{text}</promise>")), None, "{text}");
        }
        assert_eq!(read("", "<promise></promise>").signal, None);
        assert_eq!(read("A.*", "<promise>A.*</promise>").signal, Some(SignalWord::Other("A.*".to_owned())));
    }

    #[test]
    fn a_tag_that_is_shown_promises_nothing_and_the_note_says_why() {
        let tag = "<promise>API COMPLETE</promise>";
        let hidden = Report { notes: vec![HIDDEN.to_owned()], ..Report::default() };
        for text in [format!("```\n{tag}\n```"), format!("    {tag}"), format!("a `\n{tag}\n` b")] {
            assert_eq!(read("API COMPLETE", &text), hidden, "{text}");
        }
        for text in
            [format!("> {tag}"), format!("I print {tag} at the end"), format!("- {tag}"), "Done.".into()]
        {
            assert_eq!(read("API COMPLETE", &text), Report::default(), "{text}");
        }
    }

    #[test]
    fn a_tag_that_is_never_closed_does_not_wait_for_ever() {
        let text = format!("<promise>\n{}API COMPLETE</promise>", "\n".repeat(11));
        assert_eq!(read("API COMPLETE", &text), Report::default());
        assert_eq!(signal("<promise>\nAPI\n```\n```\nCOMPLETE</promise>"), None);
        assert_eq!(signal("<promise>A\n<promise>API COMPLETE</promise>").as_deref(), Some("API COMPLETE"));
    }
}
