//! The front matter of a document: the part of YAML that plans, summaries and verification reports are
//! written in. Maps, lists, texts, flow lists and maps, and block texts; no anchors, tags or several
//! documents. What is beyond that is a [`DocumentMistake`] with its line. Every value is text: who needs a number
//! or a boolean reads it.

mod flow;

use super::DocumentMistake;
use flow::{Flow, is_balanced, is_closed, short};

/// Deeper nesting is no front matter that a person wrote.
const DEPTH_MOST: usize = 12;

/// Lines that are read; a longer head is a document of its own.
const LINES_MOST: usize = 2000;

/// A value of the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(entries) => entries.iter().find(|it| it.0 == key).map(|it| &it.1),
            Node::Text(_) | Node::List(_) => None,
        }
    }

    /// Returns the text of a key that has one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Node::Text(text) if !text.is_empty() => Some(text),
            Node::Text(_) | Node::List(_) | Node::Map(_) => None,
        }
    }

    /// Returns a list; a single text is a list of one, and nothing an empty one.
    pub fn list(&self, key: &str) -> Vec<&Node> {
        match self.get(key) {
            Some(Node::List(items)) => items.iter().collect(),
            Some(node @ Node::Text(text)) if !text.is_empty() => vec![node],
            Some(node @ Node::Map(_)) => vec![node],
            Some(Node::Text(_)) | None => Vec::new(),
        }
    }

    /// Returns the texts of a list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        self.list(key).into_iter().filter_map(|it| it.as_text().map(str::to_owned)).collect()
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            Node::List(_) | Node::Map(_) => None,
        }
    }
}

/// A document in two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitDocument<'a> {
    /// An empty map where the document has no front matter.
    pub head: Node,
    pub body: &'a str,
    /// The number of the body's first line, from 1.
    pub body_line: usize,
}

/// Reads the front matter of a document.
pub fn read(text: &str) -> Result<SplitDocument<'_>, DocumentMistake> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut offset = 0;
    let mut lines = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        offset += line.len();
        match (index, bare.trim_end()) {
            (0, "---") => continue,
            (0, _) => break,
            (_, "---") => {
                let head = YamlReader { lines }.document()?;
                return Ok(SplitDocument { head, body: &text[offset..], body_line: index + 2 });
            }
            (index, _) if LINES_MOST < index => {
                return Err(DocumentMistake::at(
                    index,
                    format!("the front matter is longer than {LINES_MOST} lines"),
                ));
            }
            (index, _) => lines.push(YamlLine::new(index + 1, bare)?),
        }
    }
    if text.lines().next().is_some_and(|it| it.trim_end() == "---") {
        return Err(DocumentMistake::at(1, "the front matter begins here and is not closed by a line ---"));
    }
    Ok(SplitDocument { head: Node::Map(Vec::new()), body: text, body_line: 1 })
}

struct YamlLine {
    number: usize,
    indent: usize,
    /// Without its indentation.
    text: String,
}

impl YamlLine {
    fn new(number: usize, line: &str) -> Result<YamlLine, DocumentMistake> {
        let text = line.trim_start_matches(' ');
        if text.starts_with('\t') && !text.trim().is_empty() {
            return Err(DocumentMistake::at(number, "a tab where spaces are needed"));
        }
        Ok(YamlLine { number, indent: line.len() - text.len(), text: text.trim_end().to_owned() })
    }

    fn is_blank(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }

    fn is_entry(&self) -> bool {
        self.text == "-" || self.text.starts_with("- ")
    }
}

struct YamlReader {
    lines: Vec<YamlLine>,
}

impl YamlReader {
    fn document(mut self) -> Result<Node, DocumentMistake> {
        let mut at = 0;
        self.skip_blank(&mut at);
        let Some(first) = self.lines.get(at) else { return Ok(Node::Map(Vec::new())) };
        let indent = first.indent;
        let node = self.block(&mut at, indent, 0)?;
        self.skip_blank(&mut at);
        match self.lines.get(at) {
            None => Ok(node),
            Some(line) => {
                Err(DocumentMistake::at(line.number, format!("{:?} does not belong here", short(&line.text))))
            }
        }
    }

    fn skip_blank(&self, at: &mut usize) {
        while self.lines.get(*at).is_some_and(YamlLine::is_blank) {
            *at += 1;
        }
    }

    fn block(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Node, DocumentMistake> {
        let line = &self.lines[*at];
        if DEPTH_MOST < depth {
            return Err(DocumentMistake::at(line.number, "the front matter is nested too deeply"));
        }
        if line.is_entry() { self.list(at, indent, depth) } else { self.map(at, indent, depth) }
    }

    fn list(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Node, DocumentMistake> {
        let mut items = Vec::new();
        loop {
            self.skip_blank(at);
            let Some(line) = self.lines.get_mut(*at).filter(|it| it.indent == indent && it.is_entry()) else {
                return Ok(Node::List(items));
            };
            let rest = line.text[1..].trim_start().to_owned();
            let offset = line.text.len() - rest.len();
            if rest.is_empty() || rest.starts_with('#') {
                *at += 1;
                items.push(self.nested(at, indent + 1, depth)?);
            } else if rest.starts_with("- ") || key_of(&rest).is_some() {
                line.indent += offset;
                line.text = rest;
                let inner = line.indent;
                items.push(self.block(at, inner, depth + 1)?);
            } else {
                items.push(self.value(at, indent, rest, depth)?);
            }
        }
    }

    fn map(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Node, DocumentMistake> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        loop {
            self.skip_blank(at);
            let Some(line) = self.lines.get(*at).filter(|it| it.indent == indent && !it.is_entry()) else {
                return Ok(Node::Map(entries));
            };
            let number = line.number;
            let Some((key, rest)) = key_of(&line.text) else {
                return Err(DocumentMistake::at(
                    number,
                    format!("{:?} is no \"key: value\"", short(&line.text)),
                ));
            };
            let (key, rest) = (key.to_owned(), rest.to_owned());
            if entries.iter().any(|it| it.0 == key) {
                return Err(DocumentMistake::at(number, format!("{key} appears twice")));
            }
            let node = if rest.is_empty() || rest.starts_with('#') {
                *at += 1;
                self.nested(at, indent, depth)?
            } else {
                self.value(at, indent, rest, depth)?
            };
            entries.push((key, node));
        }
    }

    /// What stands below a key or a dash that has no value on its own line. A list may stand at the same
    /// column as its key.
    fn nested(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Node, DocumentMistake> {
        self.skip_blank(at);
        match self.lines.get(*at) {
            Some(line) if indent < line.indent || (line.indent == indent && line.is_entry()) => {
                let inner = line.indent;
                self.block(at, inner, depth + 1)
            }
            Some(_) | None => Ok(Node::Text(String::new())),
        }
    }

    /// The value that begins on this line with `first`.
    fn value(
        &mut self,
        at: &mut usize,
        indent: usize,
        first: String,
        depth: usize,
    ) -> Result<Node, DocumentMistake> {
        let number = self.lines[*at].number;
        *at += 1;
        let folded = first.starts_with('>');
        if folded || first.starts_with('|') {
            return Ok(Node::Text(self.block_text(at, indent, folded)));
        }
        let mut text = first;
        let is_flow = text.starts_with(['[', '{']);
        let is_list = text.starts_with('[');
        let is_quoted = text.starts_with(['"', '\'']);
        // A value continues where the lines below it are indented further.
        while let Some(line) = self.lines.get(*at) {
            let is_open = (is_flow && !is_balanced(&text)) || (is_quoted && !is_closed(&text));
            // The next key ends a list that nobody closed, and is not swallowed by it.
            let is_next = is_list && line.indent <= indent && key_of(&line.text).is_some();
            let belongs =
                (is_open && !is_next) || (!is_flow && !is_quoted && indent < line.indent && !line.is_blank());
            if !belongs {
                break;
            }
            text.push(' ');
            text.push_str(&line.text);
            *at += 1;
        }
        let mut flow = Flow::new(&text, number);
        let node = flow.value(depth, false)?;
        flow.end()?;
        Ok(node)
    }

    fn block_text(&mut self, at: &mut usize, indent: usize, folded: bool) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut inner = None;
        while let Some(line) = self.lines.get(*at) {
            if line.text.is_empty() {
                lines.push(String::new());
            } else if indent < line.indent {
                let inner = *inner.get_or_insert(line.indent);
                lines.push(format!("{}{}", " ".repeat(line.indent.saturating_sub(inner)), line.text));
            } else {
                break;
            }
            *at += 1;
        }
        lines.join(if folded { " " } else { "\n" }).trim().to_owned()
    }
}

/// Splits `key: value`; a colon without a space after it belongs to the text.
fn key_of(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|it| matches!(it, '"' | '\'')) {
        let end = text[1..].find(quote)? + 1;
        let rest = text[end + 1..].trim_start().strip_prefix(':')?;
        return (rest.is_empty() || rest.starts_with(' ')).then(|| (&text[1..end], rest.trim()));
    }
    if text.starts_with(['[', '{', '|', '>', '#', '&', '*', '!', '@', '`']) {
        return None;
    }
    let (key, rest) = match text.split_once(": ") {
        Some((key, rest)) => (key, rest.trim()),
        None => (text.strip_suffix(':')?, ""),
    };
    (!key.is_empty() && !key.contains(['"', '\'', '[', '{', '#'])).then(|| (key.trim_end(), rest))
}

#[cfg(test)]
mod tests {
    use super::{Node, read};

    fn text(it: &str) -> Node {
        Node::Text(it.to_owned())
    }

    #[test]
    fn the_heads_of_plans_are_read() {
        let document = "---\nphase: 03-auth\nplan: 01 # the first\nwave: 1\ndepends_on: []\nfiles_modified: [src/a.rs, \"b, c.rs\"]\n\
             must_haves:\n  truths:\n    - \"A person: can log in\"\n    - plain text\n  artifacts:\n    - path: src/a.rs\n      provides: login\n\
             \x20   - {path: b.rs, provides: \"x\"}\nnote: |\n  two\n   lines\nlong: this goes\n  on here\ntags:\n- a\n- b\n---\nBody\n";
        let parts = read(document).expect("it is sound");
        let head = &parts.head;
        assert_eq!((parts.body, parts.body_line), ("Body\n", 24));
        assert_eq!(head.text("plan"), Some("01"));
        assert_eq!(head.get("depends_on"), Some(&Node::List(Vec::new())));
        assert_eq!(head.texts("files_modified"), ["src/a.rs", "b, c.rs"]);
        let must = head.get("must_haves").expect("a map");
        assert_eq!(must.texts("truths"), ["A person: can log in", "plain text"]);
        let artifacts = must.list("artifacts");
        assert_eq!(
            artifacts.iter().map(|it| it.text("path")).collect::<Vec<_>>(),
            [Some("src/a.rs"), Some("b.rs")]
        );
        assert_eq!((head.text("note"), head.text("long")), (Some("two\n lines"), Some("this goes on here")));
        assert_eq!(head.get("tags"), Some(&Node::List(vec![text("a"), text("b")])));
        assert_eq!(read("no head\n").expect("none").body, "no head\n");
    }

    /// What other readers of such documents take, although it is no YAML.
    #[test]
    fn texts_that_begin_with_a_mark_are_texts() {
        let head = read("---\nt:\n  - @scope/package is there\n  - `name` is set\n  - **Login** works\n  - *.rs: all\nglob: *.rs\n---\n")
            .expect("sound")
            .head;
        assert_eq!(
            (head.texts("t"), head.text("glob")),
            (
                ["@scope/package is there", "`name` is set", "**Login** works", "*.rs: all"]
                    .map(str::to_owned)
                    .to_vec(),
                Some("*.rs")
            )
        );
        for text in ["a: &x 1", "a: *x", "a: !!int 3", "a: !tag x"] {
            assert!(read(&format!("---\n{text}\n---\n")).is_err(), "{text}");
        }
    }

    #[test]
    fn mistakes_have_their_line() {
        for (document, line, says) in [
            ("---\na: 1\n", 1, "not closed"),
            ("---\na: 1\nb\n---\n", 3, "is no \"key: value\""),
            ("---\na: [1, 2\n---\n", 2, "not closed"),
            ("---\na: [1, 2\nb: [3]\n---\n", 2, "not closed"),
            ("---\na: \"x\n---\n", 2, "quote"),
            ("---\na: 1\na: 2\n---\n", 3, "twice"),
            ("---\na:\n  - b\n c: 1\n---\n", 4, "does not belong"),
            ("---\n\ta: 1\n---\n", 2, "tab"),
            ("---\na: {b}\n---\n", 2, "braces"),
        ] {
            let mistake = read(document).expect_err(document);
            assert_eq!(mistake.line, line, "{document}: {mistake}");
            assert!(mistake.text.contains(says), "{document}: {mistake}");
        }
    }
}
