//! Changes of JSON that keep every other byte: a value is found in the text and something is put in, and
//! nothing is rewritten, so order, indentation and everything that nobody knows stay. The text must be
//! JSON already; whoever changes it reads it again afterwards.

use std::ops::Range;

/// What a text is indented by where it does not show that itself.
const INDENT: &str = "  ";

/// Puts something at the end of the list or object that begins here, on a line of its own that is indented
/// by so many levels. Its own lines are indented by two spaces a level; they get the indentation and the ends
/// of line that the text has.
pub fn append(text: &str, start: usize, what: &str, depth: usize) -> String {
    let end = end_of(text, start) - 1;
    let inner = &text[start + 1..end];
    let kept = start + 1 + inner.trim_end().len();
    let comma = if inner.trim().is_empty() { "" } else { "," };
    let level = indentation(text).unwrap_or(INDENT);
    let indent = first_indent(inner).map_or_else(|| level.repeat(depth), str::to_owned);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let what: Vec<String> = what.lines().map(|it| indented(it, &indent, level)).collect();
    let what = what.join(newline);
    let tail = &text[kept..end];
    let closing = match tail.contains('\n') {
        true => tail.to_owned(),
        false => format!("{newline}{}{tail}", level.repeat(depth - 1)),
    };
    format!("{}{comma}{newline}{what}{closing}{}", &text[..kept], &text[end..])
}

/// One line with the indentation of the text in place of its own.
fn indented(line: &str, indent: &str, level: &str) -> String {
    let bare = line.trim_start_matches(' ');
    let levels = (line.len() - bare.len()) / INDENT.len();
    format!("{indent}{}{bare}", level.repeat(levels))
}

/// Returns what one level of a text is indented by, as far as its first member shows it.
fn indentation(text: &str) -> Option<&str> {
    first_indent(&text[text.find(['{', '['])? + 1..]).filter(|it| !it.is_empty())
}

/// Returns what the first member of a list or object is indented by, where it stands on a line of its own.
fn first_indent(inner: &str) -> Option<&str> {
    let space = &inner[..inner.len() - inner.trim_start().len()];
    let (_, indent) = space.rsplit_once('\n')?;
    (space.len() < inner.len()).then_some(indent)
}

/// Returns where the value of a member of the object that begins here stands; the last one counts, as it does for every reader.
pub fn member(text: &str, object: usize, name: &str) -> Option<Range<usize>> {
    members(text, object).into_iter().rev().find(|it| is_named(text, it, name)).map(|(_, value)| value)
}

/// Returns where a member of the object that begins here stands, name and value together.
pub fn whole_member(text: &str, object: usize, name: &str) -> Option<Range<usize>> {
    let found = members(text, object).into_iter().rev().find(|it| is_named(text, it, name));
    found.map(|(key, value)| key.start..value.end)
}

/// Returns where the values of the list that begins here stand.
pub fn elements(text: &str, list: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = skip_space(text, list + 1);
    while !text[at..].starts_with(']') {
        let end = end_of(text, at);
        found.push(at..end);
        at = skip_comma(text, end);
    }
    found
}

/// Takes a value out of its list, or a member out of its object, together with one comma.
pub fn cut(text: &str, what: Range<usize>) -> String {
    let after = skip_space(text, what.end);
    if text[after..].starts_with(',') {
        let next = skip_space(text, after + 1);
        return format!("{}{}", &text[..what.start], &text[next..]);
    }
    let before = text[..what.start].trim_end();
    match before.strip_suffix(',') {
        Some(kept) => format!("{kept}{}", &text[what.end..]),
        // Nothing else is in there, so the brackets close at once.
        None => format!("{before}{}", &text[after..]),
    }
}

fn is_named(text: &str, (key, _): &(Range<usize>, Range<usize>), name: &str) -> bool {
    serde_json::from_str::<String>(&text[key.clone()]).is_ok_and(|it| it == name)
}

/// Returns where the names and values of the object that begins here stand.
fn members(text: &str, object: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = skip_space(text, object + 1);
    while text[at..].starts_with('"') {
        let key = at..end_of(text, at);
        let value = skip_space(text, skip_space(text, key.end) + 1);
        let end = end_of(text, value);
        found.push((key, value..end));
        at = skip_comma(text, end);
    }
    found
}

fn skip_comma(text: &str, at: usize) -> usize {
    let at = skip_space(text, at);
    if text[at..].starts_with(',') { skip_space(text, at + 1) } else { at }
}

fn skip_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// Returns where the value that begins here ends. The text is known to be JSON.
fn end_of(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0u32, start);
    loop {
        match bytes.get(at) {
            Some(b'"') => {
                at += 1;
                while bytes.get(at).is_some_and(|it| *it != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            Some(b'{' | b'[') => depth += 1,
            Some(b'}' | b']') => depth -= 1,
            Some(_) => (),
            None => return text.len(),
        }
        at += 1;
        let over = match bytes.get(at) {
            Some(b',' | b'}' | b']') | None => true,
            Some(it) => it.is_ascii_whitespace() || matches!(bytes[at - 1], b'"' | b'}' | b']'),
        };
        if depth == 0 && over {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{append, cut, elements, member, whole_member};

    #[test]
    fn what_is_put_in_moves_nothing_else() {
        let text = "{ \"a\" : {\"b\":[ 1,2 ]},\r\n\t\"c\": \"x\\\"}\" }";
        let a = member(text, 0, "a").expect("it is there");
        assert_eq!((&text[a.clone()], member(text, 0, "b")), ("{\"b\":[ 1,2 ]}", None));
        let b = member(text, a.start, "b").expect("it is there");
        assert_eq!(&text[b], "[ 1,2 ]");
        let changed = append(text, a.start, "\"d\": 4", 2);
        assert_eq!(changed, "{ \"a\" : {\"b\":[ 1,2 ],\r\n    \"d\": 4\r\n  },\r\n\t\"c\": \"x\\\"}\" }");
        assert_eq!(append("{}", 0, "\"d\": 4", 1), "{\n  \"d\": 4\n}");
    }

    #[test]
    fn what_is_put_in_is_indented_like_the_rest() {
        let what = "\"d\": [\n  1\n]";
        let tabs = "{\r\n\t\"a\": {\r\n\t\t\"b\": 1\r\n\t}\r\n}\r\n";
        assert_eq!(
            append(tabs, 0, what, 1),
            "{\r\n\t\"a\": {\r\n\t\t\"b\": 1\r\n\t},\r\n\t\"d\": [\r\n\t\t1\r\n\t]\r\n}\r\n"
        );
        let four = "{\n    \"a\": {}\n}\n";
        let at = member(four, 0, "a").expect("it is there");
        let inside = "{\n    \"a\": {\n        \"d\": [\n            1\n        ]\n    }\n}\n";
        assert_eq!(append(four, at.start, what, 2), inside);
        assert_eq!(append("{\n}\n", 0, "\"d\": 4", 1), "{\n  \"d\": 4\n}\n");
    }

    #[test]
    fn what_is_taken_out_moves_nothing_else() {
        let text = "{ \"a\" : [ 1,2,\n 3 ], \"b\": {\"c\": []} }";
        let list = member(text, 0, "a").expect("it is there").start;
        let without = |index: usize| cut(text, elements(text, list)[index].clone());
        assert_eq!(without(0), "{ \"a\" : [ 2,\n 3 ], \"b\": {\"c\": []} }");
        assert_eq!(without(1), "{ \"a\" : [ 1,3 ], \"b\": {\"c\": []} }");
        assert_eq!(without(2), "{ \"a\" : [ 1,2 ], \"b\": {\"c\": []} }");
        let b = whole_member(text, 0, "b").expect("it is there");
        assert_eq!(cut(text, b), "{ \"a\" : [ 1,2,\n 3 ] }");
        assert_eq!(cut("[ 1 ]", 2..3), "[]");
        assert!(elements("[ ]", 0).is_empty());
    }
}
