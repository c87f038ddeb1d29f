//! Reads JUnit XML, as it is printed or collected from a file. The test cases are counted, because
//! the totals in the attributes differ from tool to tool (some count suites twice, some leave
//! hooks out); only where there are fewer cases than the attributes announce, as in a report that
//! was cut short, the attributes count. A log is not an XML document: lines of other programs stand
//! before, after and between. So tags, comments and character data are followed here, line by line and
//! afresh at every `<`, which no attribute may hold; what is inside of a tag is read by `quick_xml`.

use crate::measure::counts::tally::{LogFinding, LogTally, Sum};
use loop_core::proof::runner_lines::{count, junit};
use quick_xml::events::BytesStart;

/// A longer tag is passed over; failure messages in attributes are the longest there are.
const TAG_LIMIT: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Junit {
    sum: Sum,
    place: XmlPlace,
    report: Option<JunitCounts>,
}

#[derive(Debug, Default)]
enum XmlPlace {
    #[default]
    Text,
    Tag {
        text: String,
        quote: Option<char>,
    },
    /// Until the given end of a comment or of character data.
    Until(&'static str),
}

#[derive(Debug, Default)]
struct JunitCounts {
    lines: (u64, u64),
    depth: u32,
    suites_announce: bool,
    announced: LogTally,
    counted: LogTally,
    case: Option<CountedCase>,
}

#[derive(Debug, Default)]
struct CountedCase {
    name: String,
    failed: bool,
    skipped: bool,
}

impl Junit {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        let mut rest = text;
        loop {
            rest = match &mut self.place {
                XmlPlace::Until(end) => match rest.split_once(*end) {
                    Some((_, after)) => {
                        self.place = XmlPlace::Text;
                        after
                    }
                    None => return,
                },
                XmlPlace::Text => match rest.split_once('<') {
                    Some((_, after)) => {
                        self.place = after_bracket(after, self.report.is_some());
                        after
                    }
                    None => return,
                },
                XmlPlace::Tag { .. } => match self.read_tag(at, rest) {
                    Some(after) => after,
                    None => return,
                },
            };
        }
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        self.sum.finish()
    }

    /// Reads on in a tag, and returns what follows its end.
    fn read_tag<'a>(&mut self, at: u64, rest: &'a str) -> Option<&'a str> {
        let XmlPlace::Tag { text, quote } = &mut self.place else { return Some(rest) };
        for (index, character) in rest.char_indices() {
            match (character, *quote) {
                ('<', _) => {
                    self.place = after_bracket(&rest[index + 1..], self.report.is_some());
                    return Some(&rest[index + 1..]);
                }
                ('>', None) => {
                    let tag = std::mem::take(text);
                    self.place = XmlPlace::Text;
                    self.tag(at, &tag);
                    return Some(&rest[index + 1..]);
                }
                ('"' | '\'', None) => *quote = Some(character),
                (_, Some(open)) if open == character => *quote = None,
                (_, _) => {}
            }
            text.push(character);
        }
        text.push('\n');
        if text.len() > TAG_LIMIT {
            self.place = XmlPlace::Text;
        }
        None
    }

    fn tag(&mut self, at: u64, tag: &str) {
        let tag = tag.trim();
        let name = tag.split(|it: char| it.is_whitespace() || it == '/').find(|it| !it.is_empty());
        let (closes, alone) = (tag.starts_with('/'), tag.ends_with('/'));
        let is_suite = matches!(name, Some("testsuites" | "testsuite"));
        if is_suite && !closes {
            let report =
                self.report.get_or_insert_with(|| JunitCounts { lines: (at, at), ..JunitCounts::default() });
            report.open_suite(tag);
            report.lines.1 = at;
            if alone && report.depth == 0 {
                self.close();
            } else if !alone {
                report.depth = report.depth.saturating_add(1);
            }
            return;
        }
        let Some(report) = &mut self.report else { return };
        report.lines.1 = at;
        if is_suite {
            report.depth = report.depth.saturating_sub(1);
            if report.depth == 0 {
                self.close();
            }
            return;
        }
        match (name, closes) {
            (Some("testcase"), false) => {
                report.case = Some(CountedCase::read(tag));
                if alone {
                    report.count_case();
                }
            }
            (Some("testcase"), true) => report.count_case(),
            (Some("failure" | "error"), false) => report.in_case(|it| it.failed = true),
            (Some("skipped"), false) => report.in_case(|it| it.skipped = true),
            (_, _) => {}
        }
    }

    fn close(&mut self) {
        let Some(report) = self.report.take() else { return };
        let cut_short = report.counted.total() < report.announced.total();
        let mut tally = if cut_short { report.announced } else { report.counted.clone() };
        tally.failed = report.counted.failed;
        self.sum.add(&tally, report.lines.0, report.lines.1);
    }
}

impl JunitCounts {
    /// Takes what the attributes of an outermost suite announce: a `testsuites` without totals
    /// leaves it to the suites in it.
    fn open_suite(&mut self, tag: &str) {
        let number = |name: &str| attribute(tag, name).and_then(|it| count(&it));
        let announces = self.depth == 0 || (self.depth == 1 && self.suites_announce);
        let Some(tests) = number("tests").filter(|_| announces) else {
            self.suites_announce |= self.depth == 0;
            return;
        };
        let failing = number("failures").unwrap_or(0).saturating_add(number("errors").unwrap_or(0));
        let skipped = number("skipped").unwrap_or(0);
        let passing = tests.saturating_sub(failing).saturating_sub(skipped);
        self.announced.add(&LogTally { passing, failing, skipped, ..LogTally::default() });
    }

    fn in_case(&mut self, change: impl FnOnce(&mut CountedCase)) {
        if let Some(case) = &mut self.case {
            change(case);
        }
    }

    fn count_case(&mut self) {
        let Some(case) = self.case.take() else { return };
        let mut one = LogTally::default();
        if case.skipped {
            one.skipped = 1;
        } else if case.failed {
            one.failing = 1;
            one.failed.insert(&case.name);
        } else {
            one.passing = 1;
        }
        self.counted.add(&one);
    }
}

impl CountedCase {
    fn read(tag: &str) -> CountedCase {
        let name = attribute(tag, "name").unwrap_or_default();
        let class = attribute(tag, "classname").filter(|it| !it.is_empty());
        let name = class.map_or(name.clone(), |class| format!("{class}.{name}"));
        CountedCase { name, ..CountedCase::default() }
    }
}

/// Outside a report nothing is skipped, or a comment that never ends would hide the report.
fn after_bracket(after: &str, in_report: bool) -> XmlPlace {
    if in_report && after.starts_with("![CDATA[") {
        return XmlPlace::Until("]]>");
    }
    if in_report && after.starts_with("!--") {
        return XmlPlace::Until("-->");
    }
    match after.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/') {
        true => XmlPlace::Tag { text: String::new(), quote: None },
        false => XmlPlace::Text,
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let length = tag.find(|it: char| it.is_whitespace() || it == '/').unwrap_or(tag.len());
    junit::attribute(&BytesStart::from_content(tag.trim_end_matches('/'), length), name)
}
