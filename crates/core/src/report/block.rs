//! Where in a message a report can stand. A message is Markdown, more or less: what is inside a code
//! fence, a quote, an HTML comment or inline code is shown and not said, and the one exception is a
//! fence that is the last thing in the message. This file finds those places in one pass and hands
//! out the lines with them; which lines mean something is for the protocols to know.
//!
//! It follows CommonMark where that decides who speaks, and is stricter where it is in doubt: what
//! is never closed hides everything after it. It does not build a document.

use std::collections::HashMap;
use std::ops::Range;

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePlace {
    /// In the text itself.
    Open,
    /// Inside inline code that began on an earlier line.
    Span,
    /// In the code fence that ends the message.
    LastFence,
    /// In any other fence, a quote or an HTML block.
    Hidden,
}

/// A line without its line ending and trailing spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReportLine<'a> {
    pub text: &'a str,
    pub place: LinePlace,
    /// The bytes of the message that it takes, line ending included.
    pub start: usize,
    pub end: usize,
}

/// The code fence that ends a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    /// What follows the opening marks (`json`).
    pub info: &'a str,
    pub body: &'a str,
}

/// A message and the places in it.
pub(super) struct Survey<'a> {
    text: &'a str,
    /// In ascending order, without overlap.
    covered: Vec<(Range<usize>, LinePlace)>,
    pub last_fence: Option<Fence<'a>>,
}

/// The note for a report that was seen where it does not count.
pub(super) const HIDDEN: &str = "a report in a quote, in inline code or in a code fence was not read; \
    a code fence counts only when it is the last thing in the message";

/// A paragraph with more runs of backticks than this is no prose, and is taken as code altogether.
const BACKTICK_RUNS: usize = 10_000;

/// HTML blocks that show their content rather than say it.
const HTML_BLOCKS: [(&str, &str); 7] = [
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<code", "</code>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<blockquote", "</blockquote>"),
];

impl<'a> Survey<'a> {
    /// Finds what is covered, in one pass over the text.
    pub(super) fn of(text: &'a str) -> Survey<'a> {
        let mut survey = Survey { text, covered: Vec::new(), last_fence: None };
        let mut inside = LineContext::Text;
        let mut paragraph = Paragraph::default();
        let mut last_body = None;
        for (start, end, line) in raw_lines(text) {
            match &inside {
                LineContext::Fence { opening, covered_from, body_from } => {
                    if closes_fence(line, opening) {
                        let fence = Fence { info: opening.info, body: &text[*body_from..start] };
                        survey.last_fence = (!opening.is_nested).then_some(fence);
                        last_body = Some((survey.covered.len(), *body_from..start));
                        survey.cover(*covered_from..end, LinePlace::Hidden);
                        inside = LineContext::Text;
                    }
                }
                LineContext::Html { close, covered_from } => {
                    if contains_ignoring_case(line, close) {
                        survey.cover(*covered_from..end, LinePlace::Hidden);
                        inside = LineContext::Text;
                    }
                }
                LineContext::Text if line.is_empty() => survey.end_paragraph(&mut paragraph),
                LineContext::Text => {
                    survey.last_fence = None;
                    if let Some(opening) = opens_fence(line) {
                        survey.end_paragraph(&mut paragraph);
                        inside = LineContext::Fence { opening, covered_from: start, body_from: end };
                    } else if let Some((open, close)) = opens_html(line) {
                        survey.end_paragraph(&mut paragraph);
                        let after = &line.trim_start()[open.len()..];
                        if contains_ignoring_case(after, close) {
                            survey.cover(start..end, LinePlace::Hidden);
                        } else {
                            inside = LineContext::Html { close, covered_from: start };
                        }
                    } else {
                        let is_quote = line.trim_start().starts_with('>');
                        if breaks_paragraph(line) || (is_quote && !paragraph.is_quote) {
                            survey.end_paragraph(&mut paragraph);
                        }
                        paragraph.add(start, end, line, is_quote);
                    }
                }
            }
        }
        survey.end_paragraph(&mut paragraph);
        match inside {
            LineContext::Fence { covered_from, .. } | LineContext::Html { covered_from, .. } => {
                survey.cover(covered_from..text.len(), LinePlace::Hidden);
            }
            LineContext::Text => {}
        }
        if let (Some(_), Some((index, body))) = (&survey.last_fence, last_body) {
            let whole = survey.covered[index].0.clone();
            let parts = [
                (whole.start..body.start, LinePlace::Hidden),
                (body.clone(), LinePlace::LastFence),
                (body.end..whole.end, LinePlace::Hidden),
            ];
            survey.covered.splice(index..=index, parts);
        }
        survey
    }

    /// Returns the lines of the message, in order.
    pub(super) fn lines(&self) -> impl Iterator<Item = ReportLine<'a>> {
        let mut covered = self.covered.iter().peekable();
        raw_lines(self.text).map(move |(start, end, text)| {
            while covered.next_if(|(range, _)| range.end <= start).is_some() {}
            let place = match covered.peek() {
                Some((range, place)) if range.start <= start => *place,
                _ => LinePlace::Open,
            };
            ReportLine { text, place, start, end }
        })
    }

    fn cover(&mut self, range: Range<usize>, place: LinePlace) {
        if !range.is_empty() {
            self.covered.push((range, place));
        }
    }

    fn end_paragraph(&mut self, paragraph: &mut Paragraph) {
        if paragraph.is_quote {
            self.cover(paragraph.start..paragraph.end, LinePlace::Hidden);
        } else if paragraph.runs.len() > BACKTICK_RUNS {
            self.cover(paragraph.start..paragraph.end, LinePlace::Span);
        } else {
            for range in paragraph.spans() {
                self.cover(range, LinePlace::Span);
            }
        }
        paragraph.runs.clear();
        (paragraph.is_quote, paragraph.is_begun) = (false, false);
    }
}

struct BlockOpening<'a> {
    mark: u8,
    length: usize,
    info: &'a str,
    /// Part of a list, or indented like code: such a fence belongs to what is around it.
    is_nested: bool,
}

enum LineContext<'a> {
    Text,
    Fence { opening: BlockOpening<'a>, covered_from: usize, body_from: usize },
    Html { close: &'static str, covered_from: usize },
}

/// Lines that belong together: inline code can span them, and a quote continues in them even where
/// its mark is left out.
#[derive(Default)]
struct Paragraph {
    is_begun: bool,
    is_quote: bool,
    start: usize,
    end: usize,
    runs: Vec<Backticks>,
}

struct Backticks {
    length: usize,
    line_start: usize,
    line_end: usize,
}

impl Paragraph {
    fn add(&mut self, start: usize, end: usize, line: &str, is_quote: bool) {
        if !self.is_begun {
            (self.is_begun, self.is_quote, self.start) = (true, is_quote, start);
        }
        self.end = end;
        let mut length = 0;
        for it in line.bytes().chain([b'\n']) {
            if it == b'`' {
                length += 1;
            } else if length > 0 {
                if self.runs.len() <= BACKTICK_RUNS {
                    self.runs.push(Backticks { length, line_start: start, line_end: end });
                }
                length = 0;
            }
        }
    }

    /// Returns the whole lines that stand inside inline code: it ends at the next run of the same
    /// length, and a run without such a partner is plain text.
    fn spans(&self) -> Vec<Range<usize>> {
        let mut partners = vec![None; self.runs.len()];
        let mut next_of_length = HashMap::new();
        for (index, run) in self.runs.iter().enumerate().rev() {
            partners[index] = next_of_length.insert(run.length, index);
        }
        let mut spans = Vec::new();
        let mut index = 0;
        while index < self.runs.len() {
            let Some(partner) = partners[index] else {
                index += 1;
                continue;
            };
            spans.push(self.runs[index].line_end..self.runs[partner].line_start);
            index = partner + 1;
        }
        spans.retain(|it| it.start < it.end);
        spans
    }
}

/// A lone carriage return is no line ending: a line that overwrites another on a terminal must not
/// become two.
fn raw_lines(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = end;
        end += line.len();
        (start, end, line.trim_end_matches([' ', '\t', '\r', '\n']))
    })
}

/// Any indentation and one list mark may stand before a fence: agents nest them in lists.
fn opens_fence(line: &str) -> Option<BlockOpening<'_>> {
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    let listed = &line[indent..];
    let is_code = indent > 3 || line[..indent].contains('\t');
    let line = without_list_mark(listed);
    let is_nested = is_code || line.len() < listed.len();
    let mark = *line.as_bytes().first().filter(|it| matches!(it, b'`' | b'~'))?;
    let length = line.bytes().take_while(|it| *it == mark).count();
    let info = line[length..].trim();
    let opens = length >= 3 && !(mark == b'`' && info.contains('`'));
    opens.then_some(BlockOpening { mark, length, info, is_nested })
}

fn closes_fence(line: &str, opening: &BlockOpening<'_>) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.len() >= opening.length && line.bytes().all(|it| it == opening.mark)
}

fn without_list_mark(line: &str) -> &str {
    let digits = line.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+']),
        _ => line[digits..].strip_prefix(['.', ')']),
    };
    match rest {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start_matches([' ', '\t']),
        Some(_) | None => line,
    }
}

fn opens_html(line: &str) -> Option<(&'static str, &'static str)> {
    let line = line.trim_start();
    if !line.starts_with('<') {
        return None;
    }
    HTML_BLOCKS.into_iter().find(|(open, _)| {
        let name = line.get(..open.len());
        let after = line.as_bytes().get(open.len());
        let ends_name = *open == "<!--" || after.is_none_or(|it| !it.is_ascii_alphanumeric());
        name.is_some_and(|it| it.eq_ignore_ascii_case(open)) && ends_name
    })
}

fn contains_ignoring_case(line: &str, wanted: &str) -> bool {
    let windows = &mut line.as_bytes().windows(wanted.len());
    windows.any(|it| it.eq_ignore_ascii_case(wanted.as_bytes()))
}

/// Headings, rules, list items and our own markers begin something else.
fn breaks_paragraph(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("---")
        || line.starts_with("===")
        || line.starts_with('#')
        || without_list_mark(line) != line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each line: where it stands.
    fn places(text: &str) -> String {
        let letter = |line: ReportLine<'_>| match line.place {
            LinePlace::Open => 'o',
            LinePlace::Span => 's',
            LinePlace::LastFence => 'f',
            LinePlace::Hidden => '-',
        };
        Survey::of(text).lines().map(letter).collect()
    }

    #[test]
    fn only_the_fence_that_ends_the_message_is_read() {
        let cases = [
            ("a\n```\nb\n```", "o-f-"),
            ("a\r\n```json\r\nb\r\n```\r\n \n\n", "o-f-oo"),
            ("```\nb\n```\na", "---o"),
            ("```\nb\n```\n```\nc\n```", "----f-"),
            ("~~~\nb\n```\n~~~", "-ff-"),
            ("````\n```\nb\n```\n````", "-fff-"),
            ("```\nb\n```text\nc", "----"),
            ("```\nb", "--"),
            ("  ```\n  b\n  ```", "-f-"),
            ("- ```sh\n  b\n  ```\nend", "---o"),
            ("10) ```\nb\n```\nend", "---o"),
            ("`` ``` ``\nb", "oo"),
            ("```a`b\nb", "oo"),
            ("```\n```", "--"),
            ("    ```\n    b\n    ```", "---"),
            ("\t```\nb\n```", "---"),
            ("- ```\n  b\n  ```", "---"),
        ];
        for (text, expected) in cases {
            assert_eq!(places(text), expected, "{text:?}");
        }
    }

    #[test]
    fn quotes_comments_and_inline_code_are_not_said() {
        let cases = [
            ("> a\nb\n\nc", "--oo"),
            ("a\n> b\n\nc", "o-oo"),
            ("> a\n---\nb", "-oo"),
            ("<!--\na\n-->\nb", "---o"),
            ("<!-- a -->\nb", "-o"),
            ("<PRE>\na\n\nb\n</Pre>\nc", "-----o"),
            ("<prefix>\na", "oo"),
            ("x `\na\n` y\nb", "osoo"),
            ("it`s\na\nb", "ooo"),
            ("it`s\na\n\nb ` c", "oooo"),
            ("`` a\nb\n` c\nd`` e", "osso"),
            ("` a\n# b\nc `", "ooo"),
        ];
        for (text, expected) in cases {
            assert_eq!(places(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_fence_has_its_content_and_its_language() {
        let survey = Survey::of("a\n```json \n{\n}\n```\n");
        assert_eq!(survey.last_fence, Some(Fence { info: "json", body: "{\n}\n" }));
        assert_eq!(Survey::of("```json\n{}\n```\nand so on").last_fence, None);
    }

    #[test]
    fn lines_know_their_bytes_and_a_lone_carriage_return_ends_none() {
        let text = "a\rb \r\nc";
        let lines: Vec<_> = Survey::of(text).lines().map(|it| (it.text, it.start, it.end)).collect();
        assert_eq!(lines, [("a\rb", 0, 6), ("c", 6, 7)]);
    }
}
