//! What of a product's file says which files it uses: its code and its settings. Comments and documentation
//! only mention files, and what a manifest packs into an archive is not read by anything. Tests that stand
//! among the code of Rust use files for themselves, and so do the documents that Rust tests as
//! documentation.

use crate::proof::protecting::mixed::rust_lexer::{Token, TokenKind, lex};
use crate::proof::protecting::mixed::rust_tests;
use std::ops::Range;

/// Keys of manifests whose values are packed or shown, and read by nothing.
const PACKED: &[&str] = &[
    "readme",
    "license",
    "license-file",
    "license-files",
    "description",
    "include",
    "exclude",
    "package-data",
    "exclude-package-data",
    "data-files",
    "documentation",
];

/// Keys of `setup.cfg` that are read for the package's page alone.
const SHOWN: &[&str] = &["long_description", "description", "license"];

const HASH_COMMENTS: &[&str] =
    &["py", "pyi", "sh", "bash", "zsh", "rb", "pl", "pm", "r", "jl", "ex", "exs", "nim"];

const SLASH_COMMENTS: &[&str] = &[
    "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "go", "java", "kt", "kts", "scala", "c", "h", "cc",
    "cpp", "cxx", "hpp", "cs", "swift", "dart",
];

/// The code of a source file without its comments, line by line.
pub(super) fn code_of(path: &str, text: &str) -> String {
    match path.rsplit_once('.').map_or("", |it| it.1) {
        "py" | "pyi" => without_docstrings(&without_comments(text, &["#"], false)),
        it if HASH_COMMENTS.contains(&it) => without_comments(text, &["#"], false),
        it if SLASH_COMMENTS.contains(&it) => without_comments(text, &["//"], true),
        _ => text.to_owned(),
    }
}

/// What of a manifest names files that something reads.
pub(super) fn settings_of(path: &str, text: &str) -> String {
    if path.ends_with(".cfg") {
        let is_shown = |line: &str| SHOWN.iter().any(|it| line.starts_with(it));
        return text.lines().filter(|it| !is_shown(it)).map(|it| format!("{it}\n")).collect();
    }
    let Some(mut table) = path.ends_with(".toml").then(|| text.parse::<toml::Table>().ok()).flatten() else {
        return text.to_owned();
    };
    remove_packed(&mut table);
    toml::to_string(&table).unwrap_or_else(|_| text.to_owned())
}

fn remove_packed(table: &mut toml::Table) {
    table.retain(|key, _| !PACKED.contains(&key));
    for value in table.iter_mut().map(|(_, it)| it) {
        if let toml::Value::Table(inner) = value {
            remove_packed(inner);
        }
    }
}

/// Returns what the tests in a Rust file say, with the documents that are tested as its documentation, and
/// what its product says. A file that cannot be followed is the product's.
pub(super) fn rust_texts(text: &str) -> (String, String) {
    let Some((tokens, mut tests)) = lex(text).zip(rust_tests::test_ranges(text)) else {
        return (String::new(), text.to_owned());
    };
    tests.extend(included_documents(text, &tokens));
    let mut product: Vec<u8> = text.bytes().map(|it| if it == b'\n' { b'\n' } else { b' ' }).collect();
    let is_of_tests = |token: &Token| tests.iter().any(|it| it.contains(&token.range.start));
    for token in tokens.iter().filter(|it| it.kind != TokenKind::Doc && !is_of_tests(it)) {
        let range = token.range.clone();
        product[range.clone()].copy_from_slice(&text.as_bytes()[range]);
    }
    let own = tests.iter().map(|it| format!("{}\n", &text[it.clone()])).collect();
    (own, String::from_utf8(product).unwrap_or_else(|_| text.to_owned()))
}

/// The attributes that make a document the documentation: `#![doc = include_str!("../README.md")]`.
fn included_documents(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let word = |it: &Token, word: &str| it.kind == TokenKind::Word && &text[it.range.clone()] == word;
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, it)| it.is('#')) {
        let inner = tokens.get(at + 1).is_some_and(|it| it.is('!'));
        let open = at + 1 + usize::from(inner);
        if !tokens.get(open).is_some_and(|it| it.is('[')) {
            continue;
        }
        let mut depth = 0_u32;
        let end = tokens[open..].iter().position(|it| {
            depth += u32::from(it.is('['));
            depth -= u32::from(it.is(']'));
            depth == 0
        });
        let Some(group) = end.map(|it| &tokens[open..=open + it]) else { continue };
        let is_doc = group.windows(2).any(|it| word(&it[0], "doc") && it[1].is('='));
        if is_doc && group.iter().any(|it| word(it, "include_str")) {
            let last = group.last().map_or(tokens[at].range.end, |it| it.range.end);
            found.push(tokens[at].range.start..last);
        }
    }
    found
}

/// Strings that are statements: documentation, or text that nothing reads.
fn without_docstrings(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut open: Option<&str> = None;
    // A string of several lines that something is done with.
    let mut used: Option<&str> = None;
    let mut depth = 0_i32;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if let Some(quotes) = used {
            if line.matches(quotes).count() % 2 == 1 {
                used = None;
            }
            kept.push_str(line);
            continue;
        }
        if let Some(quotes) = open {
            if trimmed.contains(quotes) {
                open = None;
            }
            kept.push('\n');
            continue;
        }
        let body = trimmed.trim_start_matches(['r', 'u', 'R', 'U']);
        let quotes = ["\"\"\"", "'''"].into_iter().find(|it| depth == 0 && body.starts_with(it));
        if let Some(quotes) = quotes {
            let rest = &body[quotes.len()..];
            match rest.find(quotes).map(|it| rest[it + quotes.len()..].trim()) {
                None => open = Some(quotes),
                Some("") => {}
                // Something is done with this string.
                Some(_) => {
                    kept.push_str(line);
                    continue;
                }
            }
            kept.push('\n');
            continue;
        }
        let first = ["\"\"\"", "'''"].into_iter().filter_map(|it| Some((line.find(it)?, it))).min();
        used = first.map(|it| it.1).filter(|it| line.matches(it).count() % 2 == 1);
        for it in line.chars() {
            depth += i32::from("([{".contains(it)) - i32::from(")]}".contains(it));
        }
        depth = depth.max(0);
        kept.push_str(line);
    }
    kept
}

/// What Go takes for an instruction is no comment. Strings are kept as they are; one that never ends on its line ends with it, except between backquotes and
/// triple quotes.
fn without_comments(text: &str, marks: &[&str], has_blocks: bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_start = |it: &&str| rest.starts_with(*it);
        let before = text[..at].chars().next_back();
        // A slash behind a backslash stands in a pattern.
        let is_pattern = has_blocks && before == Some('\\');
        let is_comment = marks.iter().any(is_start)
            && !is_pattern
            && !rest.starts_with("//go:")
            // In a shell, `$#` and `${name#prefix}` are no comments.
            && (has_blocks || before.is_none_or(|it| it.is_whitespace() || ";()[]{},:".contains(it)));
        let length = if is_comment {
            rest.find('\n').unwrap_or(rest.len())
        } else if has_blocks && !is_pattern && rest.starts_with("/*") {
            rest[2..].find("*/").map_or(rest.len(), |it| it + 4)
        } else if matches!(first, '"' | '\'' | '`') {
            let length = string_length(rest, first);
            kept.push_str(&rest[..length]);
            at += length;
            continue;
        } else {
            kept.push(first);
            at += first.len_utf8();
            continue;
        };
        kept.extend(rest[..length].chars().filter(|it| *it == '\n'));
        at += length;
    }
    kept
}

fn string_length(rest: &str, quote: char) -> usize {
    let triple = String::from(quote).repeat(3);
    if quote != '`' && rest.starts_with(&triple) {
        return rest[3..].find(&triple).map_or(rest.len(), |it| it + 6);
    }
    let mut escaped = false;
    for (at, it) in rest.char_indices().skip(1) {
        if it == '\n' && quote != '`' {
            return at;
        }
        if it == quote && !escaped {
            return at + 1;
        }
        escaped = it == '\\' && !escaped;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_documentation_use_nothing() {
        let python = "\"\"\"Reads data/a.json.\n\nAnd b.json.\n\"\"\"\n\ndef f():\n    '''c.json'''\n    x = open(\"d#.json\")  # not e.json\n    y = g(\n        \"\"\"f.json\"\"\")\n    \"\"\"g.json\"\"\".strip()\n";
        let code = code_of("shop/prices.py", python);
        for it in ["a.json", "b.json", "c.json", "e.json"] {
            assert!(!code.contains(it), "{it}: {code}");
        }
        for it in ["d#.json", "f.json", "g.json"] {
            assert!(code.contains(it), "{it}: {code}");
        }
        let usage = "USAGE = \"\"\"\nprices\n\"\"\"\n\ndef f():\n    return open(\"h.json\")\n";
        assert_eq!(code_of("shop/prices.py", usage), usage);
        let pattern = "const start = /^\\/*/;\nread('i.json');\n";
        assert_eq!(code_of("lib/paths.js", pattern), pattern);
        let script = "/* a.json */ read('b//.json'); // c.json\nread(`d.json\n//e.json`);\n";
        let code = code_of("lib/prices.js", script);
        assert!(!code.contains("a.json") && !code.contains("c.json"), "{code}");
        assert!(["b//.json", "d.json", "e.json"].iter().all(|it| code.contains(it)), "{code}");
        assert_eq!(code_of("a.go", "//go:embed a.json\n// b.json\n"), "//go:embed a.json\n\n");
        assert_eq!(code_of("run.sh", "echo $# ${a#b.json} # c.json\n"), "echo $# ${a#b.json} \n");
    }

    #[test]
    fn what_is_packed_is_not_read() {
        let manifest =
            "[project]\nname = \"shop\"\nreadme = \"README.md\" # a.json\n[tool.shop]\nrates = \"b.json\"\n";
        let settings = settings_of("pyproject.toml", manifest);
        assert!(!settings.contains("README.md") && !settings.contains("a.json"), "{settings}");
        assert!(settings.contains("b.json"), "{settings}");
        let settings =
            settings_of("setup.cfg", "[metadata]\nlong_description = file: README.md\n[x]\ny = a.json\n");
        assert_eq!(settings, "[metadata]\n[x]\ny = a.json\n");
    }

    #[test]
    fn tests_of_rust_use_files_for_themselves() {
        let text = "#![doc = include_str!(\"../README.md\")]\n//! Reads a.txt.\nconst A: &str = include_str!(\"b.txt\");\n#[cfg(doctest)]\n#[doc = include_str!(\"../c.md\")]\nstruct C;\n#[cfg(test)]\nmod tests {\n    const D: &str = include_str!(\"d.txt\");\n}\n";
        let (tests, product) = rust_texts(text);
        assert!(["README.md", "c.md", "d.txt"].iter().all(|it| tests.contains(it)), "{tests}");
        assert!(product.contains("b.txt") && !tests.contains("b.txt"), "{product}");
        for it in ["README.md", "a.txt", "c.md", "d.txt"] {
            assert!(!product.contains(it), "{it}: {product}");
        }
        assert_eq!(rust_texts("fn ( {"), (String::new(), "fn ( {".to_owned()));
    }
}
