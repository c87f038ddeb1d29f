//! Keys, sections and lists by indentation: the part of YAML that status blocks, metric blocks and
//! front matter use. Two levels are kept; what is deeper is only counted, because a list or a map
//! counts as its length. It is no YAML reader: no anchors, no tags, no documents, and a flow list has
//! to end on its line.

use loop_base::value::Value;

/// Rows kept of one outline. Metrics are cut at a tenth of this; the rest are list entries.
const ROWS_KEPT: usize = 2_000;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Outline<'a> {
    pub entries: Vec<Entry<'a>>,
    /// The first line that is neither a key nor an entry of something.
    pub unreadable: Option<&'a str>,
    /// There were more rows than are kept.
    pub is_cut: bool,
}

/// `key: value`, or `key:` with what is indented below it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entry<'a> {
    pub key: &'a str,
    pub value: &'a str,
    pub members: Vec<Member<'a>>,
    pub items: Vec<&'a str>,
    /// The first line below, whatever it is.
    pub first_line: Option<&'a str>,
    rows: usize,
    indent: usize,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Member<'a> {
    pub key: &'a str,
    pub value: &'a str,
    /// How many entries stand below it.
    pub rows: usize,
    indent: usize,
}

impl Entry<'_> {
    /// How many members or items it has, kept or not.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// A section is a key without a value.
    pub(super) fn is_section(&self) -> bool {
        self.value.is_empty()
    }
}

/// Reads lines that have lost their line endings.
pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Outline<'a> {
    let mut outline = Outline::default();
    let mut kept = 0;
    for line in lines {
        let row = line.trim_matches([' ', '\t', '\r']);
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        if kept == ROWS_KEPT {
            outline.is_cut = true;
        }
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let item = row.strip_prefix('-').filter(|it| it.is_empty() || it.starts_with([' ', '\t']));
        let has_parent = outline.entries.last().is_some();
        let understood = match (outline.entries.last_mut(), item) {
            (Some(entry), item) if indent > 0 || item.is_some() => {
                let room = kept < ROWS_KEPT;
                kept += usize::from(room);
                entry.add(indent, row, item, room)
            }
            (Some(_) | None, None) if indent == 0 => match split(row) {
                // An outline that is full takes no further key, or what stands below it would be
                // counted for the one before.
                Some(_) if kept == ROWS_KEPT => break,
                Some((key, value)) => {
                    kept += 1;
                    outline.entries.push(Entry { key, value, ..Entry::default() });
                    true
                }
                None => false,
            },
            (Some(_) | None, _) => has_parent,
        };
        if !understood && outline.unreadable.is_none() {
            outline.unreadable = Some(row);
        }
    }
    outline
}

impl<'a> Entry<'a> {
    fn add(&mut self, indent: usize, row: &'a str, item: Option<&'a str>, room: bool) -> bool {
        let is_first = self.first_line.is_none();
        if is_first {
            (self.first_line, self.indent) = (Some(row), indent);
        }
        // Below a value stands the rest of a long text.
        if !self.is_section() {
            return true;
        }
        let is_deeper = indent > self.indent;
        let in_list = is_first || self.members.is_empty();
        match (item, self.members.last_mut()) {
            (Some(item), _) if !is_deeper && in_list => {
                self.rows += 1;
                if room {
                    self.items.push(item.trim());
                }
                true
            }
            // A list below a member may stand at the member's own indentation.
            (item, Some(member)) if is_deeper || item.is_some() => {
                if member.rows == 0 {
                    member.indent = indent;
                }
                member.rows += usize::from(indent == member.indent);
                true
            }
            (_, None) if is_deeper => true,
            (_, _) => match split(row) {
                Some((key, value)) => {
                    self.rows += 1;
                    if room {
                        self.members.push(Member { key, value, ..Member::default() });
                    }
                    true
                }
                None => false,
            },
        }
    }
}

/// Splits `KEY: value`. A key is a plain name, so that prose with a colon in it is none.
pub(super) fn split(row: &str) -> Option<(&str, &str)> {
    let is_name = |it: u8| it.is_ascii_alphanumeric() || it == b'_' || it == b'-';
    let length = row.bytes().take_while(|it| is_name(*it)).count();
    let value = row[length..].strip_prefix(':')?;
    (length > 0).then_some((&row[..length], value.trim_matches([' ', '\t', '\r'])))
}

/// Returns a scalar as YAML means it, `None` for nothing (`~`, `null`). What is quoted is text; a
/// list or map in brackets is its length.
pub(super) fn scalar(raw: &str) -> Option<Value> {
    let raw = raw.trim();
    match raw.as_bytes().first() {
        Some(b'"') => Some(Value::Text(double_quoted(&raw[1..]))),
        Some(b'\'') => Some(Value::Text(single_quoted(&raw[1..]))),
        Some(b'#') | None => None,
        Some(_) => {
            let plain = raw.find(" #").map_or(raw, |at| raw[..at].trim_end());
            match plain {
                "~" | "null" => None,
                _ => Some(flow_length(plain).map_or_else(|| Value::read(plain), Value::from)),
            }
        }
    }
}

fn double_quoted(text: &str) -> String {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(it) = chars.next() {
        match it {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => break,
            },
            _ => value.push(it),
        }
    }
    value
}

fn single_quoted(text: &str) -> String {
    let mut value = String::new();
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        if it == '\'' && chars.next_if_eq(&'\'').is_none() {
            break;
        }
        value.push(it);
    }
    value
}

/// How many entries `[a, b]` or `{a: 1}` has.
fn flow_length(text: &str) -> Option<usize> {
    let pair = [("[", "]"), ("{", "}")].into_iter().find(|(open, _)| text.starts_with(open))?;
    let inner = text.strip_prefix(pair.0)?.strip_suffix(pair.1)?;
    let (mut depth, mut quoted_by, mut commas, mut has_last) = (0_i64, None, 0, false);
    for it in inner.chars() {
        match (quoted_by, it) {
            (Some(quote), _) if quote == it => quoted_by = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted_by = Some(it),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 && quoted_by.is_none() && it == ',' {
            (commas, has_last) = (commas + 1, false);
        } else if !it.is_whitespace() {
            has_last = true;
        }
    }
    Some(commas + usize::from(has_last))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, &'a str, usize, Vec<(&'a str, &'a str, usize)>, Vec<&'a str>);

    fn rows(text: &str) -> Vec<Row<'_>> {
        let entries = read(text.lines()).entries.into_iter();
        entries
            .map(|it| {
                let members = it.members.iter().map(|m| (m.key, m.value, m.rows)).collect();
                (it.key, it.value, it.len(), members, it.items.clone())
            })
            .collect()
    }

    #[test]
    fn sections_lists_and_values() {
        let text = "A: 1\nT:\n\tX: 1\n\tY:  2 \n\nL:\n - a: b\n   c: d\n - e\nN:\n- x\n- y\n# no\nE:\n";
        assert_eq!(
            rows(text),
            [
                ("A", "1", 0, vec![], vec![]),
                ("T", "", 2, vec![("X", "1", 0), ("Y", "2", 0)], vec![]),
                ("L", "", 2, vec![], vec!["a: b", "e"]),
                ("N", "", 2, vec![], vec!["x", "y"]),
                ("E", "", 0, vec![], vec![]),
            ]
        );
    }

    #[test]
    fn what_is_deeper_is_counted() {
        let text = "m:\n  a:\n  - 1\n  - 2\n  b:\n    x: 1\n      deep: 2\n    y: 2\n  c: 3\n";
        assert_eq!(rows(text), [("m", "", 3, vec![("a", "", 2), ("b", "", 2), ("c", "3", 0)], vec![])]);
        let text = "g:\n- truth: x\n  missing:\n  - a\n  - b\n- truth: y\n";
        assert_eq!(rows(text), [("g", "", 2, vec![], vec!["truth: x", "truth: y"])]);
    }

    #[test]
    fn lines_that_are_nothing_are_named_and_long_texts_go_on() {
        assert_eq!(read("A: 1\nwhat is this\nB: 2".lines()).unreadable, Some("what is this"));
        assert_eq!(read("  X: 1".lines()).unreadable, Some("X: 1"));
        assert_eq!(read("- a".lines()).unreadable, Some("- a"));
        let outline = read("A: a text\n  that goes on\nB: >-\n  folded".lines());
        assert_eq!((outline.unreadable, outline.entries[1].first_line), (None, Some("folded")));
    }

    #[test]
    fn an_outline_keeps_so_many_rows_and_still_counts() {
        let text = format!("L:\n{}", "- x\n".repeat(50_000));
        let outline = read(text.lines());
        assert_eq!((outline.entries[0].len(), outline.entries[0].items.len()), (50_000, ROWS_KEPT - 1));
        let outline = read("A:\n".repeat(50_000).leak().lines());
        assert_eq!((outline.entries.len(), outline.is_cut), (ROWS_KEPT, true));
    }

    #[test]
    fn scalars_as_yaml_writes_them() {
        let text = |it: &str| Some(Value::Text(it.to_owned()));
        let cases = [
            ("5 # five", Some(Value::Int(5))),
            ("\"5\"", text("5")),
            ("\"a \\\"b\\\" \\\\ c\" # d", text("a \"b\" \\ c")),
            ("'it''s'", text("it's")),
            ("'open", text("open")),
            ("5/7 must-haves", text("5/7 must-haves")),
            ("a#b", text("a#b")),
            ("~", None),
            ("null", None),
            ("", None),
            ("# only", None),
            ("[]", Some(Value::Int(0))),
            ("[a, 'b, c', [d, e]]", Some(Value::Int(3))),
            ("[a, b,]", Some(Value::Int(2))),
            ("{a: 1, b: 2}", Some(Value::Int(2))),
            ("[a,", text("[a,")),
            ("true", Some(Value::Bool(true))),
        ];
        for (raw, value) in cases {
            assert_eq!(scalar(raw), value, "{raw}");
        }
    }
}
