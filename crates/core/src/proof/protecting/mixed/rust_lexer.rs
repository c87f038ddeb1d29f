//! Splits Rust source into words, literals and marks. It knows strings, raw strings, characters,
//! lifetimes and nested comments, so that a brace inside of them is none; comments are left out,
//! except for the documentation of an item, which belongs to it.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Literal,
    /// Outer documentation, which belongs to the item behind it.
    Doc,
    Mark(char),
}

#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) range: Range<usize>,
}

impl Token {
    pub(crate) fn is(&self, mark: char) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

/// Returns the tokens of a file, or nothing if a literal or comment never ends.
pub(crate) fn lex(text: &str) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    if text.starts_with("#!") && !text[2..].trim_start().starts_with('[') {
        at = text.find('\n').unwrap_or(text.len());
    }
    while at < bytes.len() {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("//") {
            let end = at + rest.find('\n').unwrap_or(rest.len());
            if rest.starts_with("///") && !rest.starts_with("////") {
                tokens.push(Token { kind: TokenKind::Doc, range: at..end });
            }
            at = end;
        } else if rest.starts_with("/*") {
            let end = at + block_comment(rest)?;
            if rest.starts_with("/**") && !rest.starts_with("/***") && !rest.starts_with("/**/") {
                tokens.push(Token { kind: TokenKind::Doc, range: at..end });
            }
            at = end;
        } else if let Some(length) = literal(rest)? {
            tokens.push(Token { kind: TokenKind::Literal, range: at..at + length });
            at += length;
        } else if first.is_alphanumeric() || first == '_' {
            let raw = if rest.starts_with("r#") { 2 } else { 0 };
            let length = rest[raw..].find(|it: char| !it.is_alphanumeric() && it != '_');
            let length = raw + length.unwrap_or(rest.len() - raw);
            tokens.push(Token { kind: TokenKind::Word, range: at..at + length });
            at += length;
        } else {
            tokens.push(Token { kind: TokenKind::Mark(first), range: at..at + first.len_utf8() });
            at += first.len_utf8();
        }
    }
    Some(tokens)
}

fn block_comment(rest: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut at = 0;
    let bytes = rest.as_bytes();
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if bytes[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

/// Returns the length of a string, character or lifetime that begins here. The outer nothing means a
/// literal that never ends, the inner one that there is none.
#[expect(clippy::option_option, reason = "the two nothings differ")]
fn literal(rest: &str) -> Option<Option<usize>> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|it| {
        let after = rest.strip_prefix(it).unwrap_or("");
        let raw = it.ends_with('r');
        let quoted = after.starts_with('"') || (raw && after.trim_start_matches('#').starts_with('"'));
        rest.starts_with(it) && (quoted || (matches!(*it, "b" | "") && after.starts_with('\'')))
    });
    let Some(prefix) = prefix else { return Some(None) };
    let after = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let close = format!("\"{}", "#".repeat(hashes));
        let body = &after[hashes + 1..];
        let end = body.find(&close)?;
        return Some(Some(prefix.len() + hashes + 1 + end + close.len()));
    }
    if let Some(body) = after.strip_prefix('"') {
        return quoted(body, b'"').map(|it| Some(prefix.len() + 1 + it));
    }
    // A quote begins a character if it is escaped or closed behind one character; else a lifetime.
    let body = &after[1..];
    if body.starts_with('\\') {
        return quoted(body, b'\'').map(|it| Some(prefix.len() + 1 + it));
    }
    let first = body.chars().next()?;
    let closed = body[first.len_utf8()..].starts_with('\'');
    Some(Some(prefix.len() + 1 + if closed { first.len_utf8() + 1 } else { 0 }))
}

/// Returns the length up to and with the closing quote.
fn quoted(body: &str, quote: u8) -> Option<usize> {
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            it if it == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}
