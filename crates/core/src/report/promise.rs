//! The `promise` protocol: `<promise>TEXT</promise>` with the exact text that the run asked for. The
//! tag has to stand alone on its line or lines, without indentation, in the text itself; one that is
//! quoted, shown as code, mentioned in a sentence or repeated from the prompt promises nothing, and the
//! report says where it stood. The last tag counts.

use super::block::{LinePlace, Survey};
use super::text_limits::beginning;
use super::{PromisePlace, Report};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
/// A promise is a word or a sentence; agents break it over three lines at most.
const PROMISE_LINES: usize = 10;

pub(super) fn read(promise: &str, prompt: &str, text: &str) -> Report {
    let (mut last, mut begun, mut ignored) = (None, None, None);
    let asked = PromiseAsked::of(prompt);
    for line in Survey::of(text).lines() {
        let tag = line.text.trim_start_matches(' ');
        let indent = line.text.len() - tag.len();
        let begins = tag.starts_with(OPEN);
        // An indented line is code, or the context of a diff.
        if line.place != LinePlace::Open || (begins && 0 < indent) {
            if tag.contains(OPEN) {
                ignored = Some(PromisePlace::Shown);
            }
            begun = None;
            continue;
        }
        if begins {
            begun = Some(Begun { inner_from: line.start + OPEN.len(), lines: 0 });
        } else if mentions(tag, promise) {
            ignored = Some(PromisePlace::InsideLine);
        }
        let Some(Begun { inner_from, lines }) = begun.take() else { continue };
        let looked_from = inner_from.max(line.start);
        let line_end = line.start + line.text.len();
        match text[looked_from..line_end].find(CLOSE) {
            Some(at) => {
                let inner = &text[inner_from..looked_from + at];
                let is_alone = looked_from + at + CLOSE.len() == line_end && !inner.contains(OPEN);
                let is_echo = || asked.is_repeated(text, inner_from - OPEN.len()..line.end);
                if !is_alone {
                    ignored = mentions(line.text, promise).then_some(PromisePlace::InsideLine).or(ignored);
                } else if is_echo() {
                    ignored = Some(PromisePlace::Echoed);
                } else {
                    last = Some(inner);
                }
            }
            None if lines < PROMISE_LINES => begun = Some(Begun { inner_from, lines: lines + 1 }),
            None => {}
        }
    }
    let mut report = Report { found: last.is_some(), ..Report::default() };
    match last {
        Some(given) if is_same(given, promise) => report.signal = Some(promise.to_owned().into()),
        Some(given) => report.other_promise = Some(beginning(given)),
        None => report.ignored_promise = ignored,
    }
    report
}

/// Whether a line has the promise somewhere in it, tags included.
fn mentions(line: &str, promise: &str) -> bool {
    let inner = line.split(OPEN).skip(1).filter_map(|it| it.split_once(CLOSE));
    inner.into_iter().any(|(given, _)| is_same(given, promise))
}

/// The places in a prompt that show the promise.
struct PromiseAsked<'a> {
    /// For each: the tag and the lines with text before and after it.
    places: Vec<(&'a str, Option<&'a str>, Option<&'a str>)>,
}

impl<'a> PromiseAsked<'a> {
    fn of(prompt: &'a str) -> PromiseAsked<'a> {
        let lines: Vec<&str> = prompt.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let shown = lines.iter().enumerate().filter(|(_, it)| it.starts_with(OPEN));
        let around = |at: usize| (at.checked_sub(1).map(|it| lines[it]), lines.get(at + 1).copied());
        let places = shown.map(|(at, tag)| (*tag, around(at).0, around(at).1)).collect();
        PromiseAsked { places }
    }

    /// Tells whether the tag stands in a message as it does in the prompt: next to a line of the prompt
    /// that is its neighbour there.
    fn is_repeated(&self, text: &str, tag: std::ops::Range<usize>) -> bool {
        let with_text = |it: &&str| !it.is_empty();
        let before = text[..tag.start].lines().rev().map(str::trim).find(with_text);
        let after = text[tag.end..].lines().map(str::trim).find(with_text);
        let same = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
        let given = text[tag].trim();
        self.places
            .iter()
            .any(|(asked, above, below)| *asked == given && (same(*above, before) || same(*below, after)))
    }
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
        read("API COMPLETE", "", text).signal.map(String::from)
    }

    #[test]
    fn rt_16_inner_spaces_and_newlines_are_collapsed() {
        let given = [
            "<promise>API COMPLETE</promise>",
            "All done.\n<promise>API COMPLETE</promise>\n",
            "<promise>  API \t COMPLETE </promise>  \r\n",
            "<promise>\nAPI COMPLETE\n</promise>",
            "<promise>\r\n  API\r\n  COMPLETE\r\n</promise>\r\n",
            "<promise>API\nCOMPLETE</promise>",
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
        let report = read("API COMPLETE", "", &format!("{right}\n\n{wrong}"));
        let expected = Report { found: true, other_promise: Some("DONE".into()), ..Report::default() };
        assert_eq!(report, expected);
    }

    #[test]
    fn the_comparison_is_literal() {
        for text in
            ["api complete", "API.COMPLETE", "API COMPLETE.", "API\u{a0}COMPLETE", "APICOMPLETE", ".*", ""]
        {
            assert_eq!(signal(&format!("<promise>{text}</promise>")), None, "{text}");
        }
        assert_eq!(read("", "", "<promise></promise>").signal, None);
        assert_eq!(
            read("A.*", "", "<promise>A.*</promise>").signal,
            Some(SignalWord::Other("A.*".to_owned()))
        );
    }

    #[test]
    fn a_promise_that_does_not_count_is_noted_with_its_place() {
        let tag = "<promise>API COMPLETE</promise>";
        let noted = |text: &str| {
            let report = read("API COMPLETE", "", text);
            let expected = Report { ignored_promise: report.ignored_promise, ..Report::default() };
            assert_eq!(report, expected, "{text}");
            report.ignored_promise
        };
        let shown = [
            format!("```\n{tag}\n```"),
            format!("    {tag}"),
            format!(" {tag}"),
            format!("a `\n{tag}\n` b"),
            format!("> {tag}"),
        ];
        for text in shown {
            assert_eq!(noted(&text), Some(PromisePlace::Shown), "{text}");
        }
        let inside = [
            format!("I print {tag} at the end"),
            format!("- {tag}"),
            format!("All done. {tag}"),
            format!("{tag} and that is all"),
        ];
        for text in inside {
            assert_eq!(noted(&text), Some(PromisePlace::InsideLine), "{text}");
        }
        for text in ["Done.", "I never write <promise>DONE</promise> here", "<promise>", ""] {
            assert_eq!(noted(text), None, "{text}");
        }
    }

    #[test]
    fn an_echo_of_the_prompt_promises_nothing() {
        let tag = "<promise>API COMPLETE</promise>";
        let prompt = format!("Build it.\n\nWhen done, say:\n\n{tag}\n\nThe checks are run again.\n");
        let given = |text: &str| read("API COMPLETE", &prompt, text).signal.is_some();
        let said = [
            prompt.clone(),
            format!("{prompt}\nThat was the prompt."),
            format!("When done, say:\n{tag}"),
            format!("{tag}\n\n  The checks are run again."),
        ];
        for text in said {
            assert!(!given(&text), "{text}");
            let place = read("API COMPLETE", &prompt, &text).ignored_promise;
            assert_eq!(place, Some(PromisePlace::Echoed), "{text}");
        }
        for text in
            [tag.to_owned(), format!("{prompt}\nAll is built.\n\n{tag}"), format!("Done.\n{tag}\nBye.")]
        {
            assert!(given(&text), "{text}");
        }
    }

    #[test]
    fn a_tag_that_is_never_closed_does_not_wait_for_ever() {
        let text = format!("<promise>\n{}API COMPLETE</promise>", "\n".repeat(11));
        assert_eq!(read("API COMPLETE", "", &text), Report::default());
        assert_eq!(signal("<promise>\nAPI\n```\n```\nCOMPLETE</promise>"), None);
        assert_eq!(signal("<promise>A\n<promise>API COMPLETE</promise>").as_deref(), Some("API COMPLETE"));
    }
}
