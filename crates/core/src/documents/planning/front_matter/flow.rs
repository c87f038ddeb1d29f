//! A value of the front matter that stands on one line: a text, plain or quoted, a list or a map in brackets.

use super::{DEPTH_MOST, Node};
use crate::documents::planning::DocumentMistake;

pub(super) fn is_balanced(text: &str) -> bool {
    let mut open = 0i32;
    let mut quote = None;
    for it in text.chars() {
        match (quote, it) {
            (Some(mark), _) if mark == it => quote = None,
            (Some(_), _) => (),
            (None, '"' | '\'') => quote = Some(it),
            (None, '[' | '{') => open += 1,
            (None, ']' | '}') => open -= 1,
            (None, _) => (),
        }
    }
    open <= 0
}

pub(super) fn is_closed(text: &str) -> bool {
    let mut probe = Flow::new(text, 0);
    probe.value(0, false).is_ok()
}

/// A value on one line.
pub(super) struct Flow<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl Flow<'_> {
    pub(super) fn new(text: &str, number: usize) -> Flow<'_> {
        Flow { text, at: 0, number }
    }

    fn wrong(&self, why: &str) -> DocumentMistake {
        DocumentMistake::at(self.number, format!("{:?} {why}", short(self.text)))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn end(&mut self) -> Result<(), DocumentMistake> {
        self.skip_spaces();
        if self.rest().is_empty() || self.rest().starts_with('#') {
            return Ok(());
        }
        Err(self.wrong("continues after its value"))
    }

    pub(super) fn value(&mut self, depth: usize, inside: bool) -> Result<Node, DocumentMistake> {
        self.skip_spaces();
        if DEPTH_MOST < depth {
            return Err(self.wrong("is nested too deeply"));
        }
        match self.rest().chars().next() {
            None => Ok(Node::Text(String::new())),
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(Node::Text),
            Some(mark @ ('&' | '*' | '!')) if !inside && is_reference(mark, self.rest()) => {
                Err(self.wrong("begins with a special character; put it in quotes"))
            }
            Some(_) => Ok(Node::Text(self.plain(inside))),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, DocumentMistake> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_spaces();
            match self.rest().chars().next() {
                None => return Err(self.wrong("is a list that is not closed")),
                Some(']') => {
                    self.at += 1;
                    return Ok(Node::List(items));
                }
                Some(',') => self.at += 1,
                Some(_) => items.push(self.value(depth + 1, true)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Node, DocumentMistake> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_spaces();
            let key = match self.rest().chars().next() {
                None => return Err(self.wrong("is a map that is not closed")),
                Some('}') => {
                    self.at += 1;
                    return Ok(Node::Map(entries));
                }
                Some(',') => {
                    self.at += 1;
                    continue;
                }
                Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
                Some(_) => {
                    let end = self.rest().find([':', ',', '}']).unwrap_or(self.rest().len());
                    let key = self.rest()[..end].trim().to_owned();
                    self.at += end;
                    key
                }
            };
            self.skip_spaces();
            if !self.rest().starts_with(':') || key.is_empty() {
                return Err(self.wrong("has no \"key: value\" in its braces"));
            }
            self.at += 1;
            let value = self.value(depth + 1, true)?;
            entries.push((key, value));
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, DocumentMistake> {
        let mut found = String::new();
        let mut characters = self.rest().char_indices().skip(1).peekable();
        while let Some((index, it)) = characters.next() {
            match it {
                '\\' if quote == '"' => match characters.next() {
                    Some((_, 'n')) => found.push('\n'),
                    Some((_, 't')) => found.push('\t'),
                    Some((_, other)) => found.push(other),
                    None => break,
                },
                _ if it == quote => {
                    if quote == '\'' && characters.peek().is_some_and(|next| next.1 == quote) {
                        found.push(quote);
                        characters.next();
                        continue;
                    }
                    self.at += index + quote.len_utf8();
                    return Ok(found);
                }
                _ => found.push(it),
            }
        }
        Err(self.wrong("begins with a quote that is not closed"))
    }

    fn plain(&mut self, inside: bool) -> String {
        let rest = self.rest();
        let end = if inside { rest.find([',', ']', '}']).unwrap_or(rest.len()) } else { rest.len() };
        let end = rest[..end].find(" #").unwrap_or(end);
        let found = rest[..end].trim().to_owned();
        // At least one character is taken, so that a list always comes to its end.
        let taken = end.max(rest.chars().next().map_or(0, char::len_utf8));
        self.at += taken;
        match found.as_str() {
            "~" | "null" => String::new(),
            _ => found,
        }
    }
}

/// `&name`, `*name` and `!tag` stand for something else; `*.rs`, `**bold**` and `!` are text.
fn is_reference(mark: char, text: &str) -> bool {
    let word = text[1..].split(char::is_whitespace).next().unwrap_or_default();
    let is_name =
        !word.is_empty() && word.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '!'));
    // Nothing follows a name that is put in for something else.
    is_name && (mark != '*' || text[1..].trim() == word)
}

pub(super) fn short(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
