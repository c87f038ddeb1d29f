//! Test items in Rust source files: everything at the level of a module that carries `#[cfg(test)]`
//! (also within `all` and `any`) or a test attribute. [`with_tests_of`] cuts them out of one version
//! of a file and puts those of the other in. This is a walk over items, not a parser: it
//! knows where an item ends. A file that it cannot follow is refused, and then not judged.

use crate::proof::protecting::mixed::rust_lexer::{Token, TokenKind, lex};
use std::ops::Range;

/// Modules inside modules that are followed.
const NESTING_LIMIT: usize = 64;

/// An item that only exists for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TestItem {
    /// Kind and name within the modules around it, and its number among equals.
    key: (Vec<String>, String, usize),
    /// From its first attribute or documentation line to its end.
    range: Range<usize>,
    /// Where the body of a module ends, before its brace.
    body_end: Option<usize>,
}

/// The items of one file.
#[derive(Debug, Default)]
struct TestOutline {
    tests: Vec<TestItem>,
    /// The place before the closing brace of each ordinary module.
    module_ends: Vec<(Vec<String>, usize)>,
    /// Modules in files of their own: name, `#[path]`, and whether they are for tests only.
    declared: Vec<(String, Option<String>, bool)>,
}

/// Returns `text` with its test items replaced by those of `tests_from`; nothing if one of the two
/// cannot be followed, or a test item has no place in `text`.
pub(crate) fn with_tests_of(text: &str, tests_from: &str) -> Option<String> {
    if text == tests_from {
        return Some(text.to_owned());
    }
    let (ground, source) = (outline(text)?, outline(tests_from)?);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for item in &ground.tests {
        let replacement = source.tests.iter().find(|it| it.key == item.key);
        edits.push((
            item.range.clone(),
            replacement.map_or("", |it| &tests_from[it.range.clone()]).to_owned(),
        ));
    }
    for item in source.tests.iter().filter(|it| !ground.tests.iter().any(|other| other.key == it.key)) {
        let modules = &item.key.0;
        let place = match modules.is_empty() {
            true => text.len(),
            false => ground.module_ends.iter().find(|(path, _)| path == modules)?.1,
        };
        edits.push((place..place, format!("\n{}\n", &tests_from[item.range.clone()])));
    }
    // Insertions at one place keep their order, because the sort is stable.
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut result = String::with_capacity(text.len() + tests_from.len());
    let mut at = 0;
    for (range, replacement) in edits {
        result.push_str(text.get(at..range.start)?);
        result.push_str(&replacement);
        at = range.end;
    }
    result.push_str(&text[at..]);
    Some(result)
}

/// Returns the texts of all test items, to see whether they moved unchanged.
pub(crate) fn test_texts(text: &str) -> Option<Vec<String>> {
    let squeeze = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(outline(text)?.tests.iter().map(|it| squeeze(&text[it.range.clone()])).collect())
}

/// Returns where the test items of a file stand.
pub(crate) fn test_ranges(text: &str) -> Option<Vec<Range<usize>>> {
    Some(outline(text)?.tests.into_iter().map(|it| it.range).collect())
}

/// Returns the place before the closing brace of the last test module in the file.
pub(crate) fn end_of_test_module(text: &str) -> Option<usize> {
    outline(text)?.tests.iter().filter_map(|it| it.body_end).max()
}

/// Returns the modules in files of their own that exist for tests only, with their `#[path]`.
pub(crate) fn test_module_files(text: &str) -> Vec<(String, Option<String>)> {
    let declared = outline(text).unwrap_or_default().declared;
    declared.into_iter().filter(|(_, _, for_tests)| *for_tests).map(|(name, path, _)| (name, path)).collect()
}

/// Tells whether the file declares a module of this name in a file of its own.
pub(crate) fn declares_module(text: &str, module: &str) -> bool {
    outline(text).unwrap_or_default().declared.iter().any(|(name, _, _)| name == module)
}

fn outline(text: &str) -> Option<TestOutline> {
    let tokens = lex(text)?;
    let mut walk = OutlineWalk { text, tokens: &tokens, at: 0, outline: TestOutline::default() };
    walk.items(&mut Vec::new())?;
    (walk.at == tokens.len()).then_some(walk.outline)
}

struct OutlineWalk<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    outline: TestOutline,
}

/// What the attributes of an item say.
#[derive(Default)]
struct Attributes {
    for_tests: bool,
    path: Option<String>,
}

impl OutlineWalk<'_> {
    /// Walks over the items of a module, up to its closing brace or the end of the file.
    fn items(&mut self, modules: &mut Vec<String>) -> Option<()> {
        while let Some(token) = self.tokens.get(self.at) {
            if token.is('}') {
                return Some(());
            }
            self.item(modules)?;
        }
        Some(())
    }

    fn item(&mut self, modules: &mut Vec<String>) -> Option<()> {
        let start = self.tokens[self.at].range.start;
        let mut attributes = Attributes::default();
        let mut any = false;
        loop {
            let token = self.tokens.get(self.at);
            if token.is_some_and(|it| it.kind == TokenKind::Doc) {
                (self.at, any) = (self.at + 1, true);
            } else if token.is_some_and(|it| it.is('#')) {
                let inner = self.tokens.get(self.at + 1).is_some_and(|it| it.is('!'));
                self.at += if inner { 2 } else { 1 };
                let content = self.group('[')?;
                if inner && !any {
                    return Some(());
                }
                self.read_attribute(content, &mut attributes);
                any = true;
            } else {
                break;
            }
        }
        if self.at >= self.tokens.len() {
            return if any { None } else { Some(()) };
        }
        let (kind, name, body) = self.item_body()?;
        let end = self.tokens[self.at - 1].range.end;
        if kind == "mod" && body.is_none() {
            self.outline.declared.push((name.clone(), attributes.path.take(), attributes.for_tests));
        }
        if attributes.for_tests {
            let label = format!("{kind} {name}");
            let same = |it: &&TestItem| it.key.0 == *modules && it.key.1 == label;
            let number = self.outline.tests.iter().filter(same).count();
            let body_end = body.filter(|_| kind == "mod").map(|it| self.tokens[it.end].range.start);
            self.outline.tests.push(TestItem {
                key: (modules.clone(), label, number),
                range: start..end,
                body_end,
            });
        } else if let Some(body) = body.filter(|_| kind == "mod") {
            if modules.len() >= NESTING_LIMIT {
                return None;
            }
            let after = self.at;
            modules.push(name);
            self.at = body.start;
            self.items(modules)?;
            if self.at != body.end {
                return None;
            }
            self.outline.module_ends.push((modules.clone(), self.tokens[body.end].range.start));
            modules.pop();
            self.at = after;
        }
        Some(())
    }

    /// Passes over one item and returns its kind, its name and the tokens of its braces.
    fn item_body(&mut self) -> Option<(&'static str, String, Option<Range<usize>>)> {
        let mut kind = "";
        let mut name = String::new();
        let first = self.at;
        loop {
            let token = self.tokens.get(self.at)?;
            if token.kind == TokenKind::Word {
                let word = &self.text[token.range.clone()];
                if kind.is_empty() || (kind == "const" && word == "fn") {
                    kind = item_kind(word).unwrap_or(kind);
                } else if name.is_empty() {
                    name = word.to_owned();
                }
                self.at += 1;
            } else if token.is(';') {
                self.at += 1;
                return Some((kind, self.named(kind, name, first), None));
            } else if token.is('{') {
                let body = self.group('{')?;
                // `use a::{b, c};` and `const X: T = T { .. };` go on to their semicolon.
                if !matches!(kind, "use" | "const" | "static" | "type") {
                    return Some((kind, self.named(kind, name, first), Some(body)));
                }
            } else if token.is('(') {
                self.group('(')?;
            } else if token.is('[') {
                self.group('[')?;
            } else if token.is('}') || token.is(')') || token.is(']') {
                return None;
            } else {
                self.at += 1;
            }
        }
    }

    /// Implementations and imports have no name of their own: their first line stands for it.
    fn named(&self, kind: &str, name: String, first: usize) -> String {
        if matches!(kind, "fn" | "mod" | "struct" | "enum" | "trait" | "union" | "const" | "static" | "type")
        {
            return name;
        }
        let text = &self.text[self.tokens[first].range.start..self.tokens[self.at - 1].range.end];
        let head = text.split('{').next().unwrap_or(text);
        head.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Passes over a bracketed group that begins here and returns the tokens inside it.
    fn group(&mut self, open: char) -> Option<Range<usize>> {
        self.tokens.get(self.at).filter(|it| it.is(open))?;
        let start = self.at + 1;
        let mut expected: Vec<char> = Vec::new();
        loop {
            let token = self.tokens.get(self.at)?;
            self.at += 1;
            match token.kind {
                TokenKind::Mark('{') => expected.push('}'),
                TokenKind::Mark('(') => expected.push(')'),
                TokenKind::Mark('[') => expected.push(']'),
                TokenKind::Mark(close @ ('}' | ')' | ']')) => {
                    if expected.pop() != Some(close) {
                        return None;
                    }
                    if expected.is_empty() {
                        return Some(start..self.at - 1);
                    }
                }
                TokenKind::Mark(_) | TokenKind::Word | TokenKind::Literal | TokenKind::Doc => {}
            }
        }
    }

    fn read_attribute(&self, content: Range<usize>, attributes: &mut Attributes) {
        let tokens = &self.tokens[content];
        let word = |it: &Token| if it.kind == TokenKind::Word { &self.text[it.range.clone()] } else { "" };
        let path_end =
            tokens.iter().position(|it| it.kind != TokenKind::Word && !it.is(':')).unwrap_or(tokens.len());
        let last = tokens[..path_end].iter().rev().map(word).find(|it| !it.is_empty()).unwrap_or("");
        match last {
            "cfg" => attributes.for_tests |= demands_test(tokens, &word),
            "path" => {
                let literal = tokens.last().filter(|it| it.kind == TokenKind::Literal);
                let text = literal.map(|it| self.text[it.range.clone()].trim_matches('"').to_owned());
                attributes.path = text;
            }
            "test" | "rstest" | "test_case" | "bench" | "quickcheck" | "wasm_bindgen_test" => {
                attributes.for_tests = true;
            }
            _ => {}
        }
    }
}

/// Tells whether a `cfg` names `test` outside of a `not`.
fn demands_test<'a>(tokens: &'a [Token], word: &dyn Fn(&'a Token) -> &'a str) -> bool {
    let mut nots: Vec<bool> = Vec::new();
    let mut last = "";
    for (index, token) in tokens.iter().enumerate() {
        if token.is('(') {
            nots.push(last == "not");
        } else if token.is(')') {
            nots.pop();
        } else if word(token) == "test" && !nots.contains(&true) {
            // `feature = "test"` and `test = ".."` are values of something else.
            let is_key = tokens.get(index + 1).is_some_and(|it| it.is('='));
            if !is_key {
                return true;
            }
        }
        last = word(token);
    }
    false
}

fn item_kind(word: &str) -> Option<&'static str> {
    let kinds = [
        "fn",
        "mod",
        "struct",
        "enum",
        "trait",
        "union",
        "impl",
        "use",
        "const",
        "static",
        "type",
        "macro_rules",
        "macro",
    ];
    kinds.into_iter().find(|it| *it == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: &str = "//! Sums.\n\npub fn add(a: i32) -> i32 { a + 1 }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1), 2); let s = \"}\"; }\n}\n";

    #[test]
    fn puts_the_tests_of_the_baseline_in() {
        let weakened = BASE.replace("assert_eq!(add(1), 2);", "").replace("a + 1", "a + 2");
        let expected = BASE.replace("a + 1", "a + 2");
        assert_eq!(with_tests_of(&weakened, BASE).as_deref(), Some(expected.as_str()));
    }

    #[test]
    fn puts_deleted_tests_back_and_takes_added_ones_away() {
        let code = "pub fn add(a: i32) -> i32 { a }\n";
        let tests = "#[cfg(test)]\nmod tests {\n    fn x() {}\n}";
        let base = format!("{code}\n{tests}\n");
        assert_eq!(with_tests_of(code, &base), Some(format!("{code}\n{tests}\n")));
        assert_eq!(with_tests_of(&base, code), Some(format!("{code}\n\n")));
    }

    #[test]
    fn is_not_led_astray_by_text() {
        let code = "const A: &str = \"#[cfg(test)] mod tests {\";\nconst B: &str = r#\"}\"\"#;\nconst C: char = '\"';\nconst D: u8 = b'\\'';\nfn f<'a>(x: &'a str) -> &'a str { /* } /* nested { */ */ x } // }\nconst E: char = '}';\n#[cfg(not(test))] fn live() {}\n#[cfg(feature = \"test\")] fn feature() {}\n#[cfg_attr(test, derive(Debug))] struct S;\n";
        let base =
            format!("{code}#[cfg(all(test, unix))]\npub(crate) mod tests {{ fn a() {{ let c = '{{'; }} }}\n");
        let changed = base.replace("fn a() { let c = '{'; }", "");
        assert_eq!(with_tests_of(&changed, &base).as_deref(), Some(base.as_str()));
        assert_eq!(outline(code).expect("readable").tests, Vec::new());
    }

    #[test]
    fn knows_bare_tests_helpers_and_nested_modules() {
        let base = "mod inner {\n    pub fn f() {}\n    /// Says why.\n    #[test]\n    #[should_panic]\n    fn bare() { panic!() }\n}\n#[cfg(test)]\nuse std::{fmt, io};\n#[cfg(test)]\nimpl Shop { fn fake() -> Shop { Shop {} } }\n#[tokio::test]\nasync fn later() {}\n";
        let stripped = "mod inner {\n    pub fn f() { 1; }\n}\n";
        let merged = with_tests_of(stripped, base).expect("readable");
        let expected = [
            "/// Says why. #[test] #[should_panic] fn bare() { panic!() }",
            "#[cfg(test)] use std::{fmt, io};",
            "#[cfg(test)] impl Shop { fn fake() -> Shop { Shop {} } }",
            "#[tokio::test] async fn later() {}",
        ];
        assert_eq!(test_texts(&merged).expect("readable"), expected);
        assert!(merged.contains("pub fn f() { 1; }"));
    }

    #[test]
    fn refuses_what_it_cannot_follow() {
        assert_eq!(with_tests_of("fn a() {", "fn a() {}"), None);
        assert_eq!(with_tests_of("fn a() {}", "const A: &str = \"never closed;"), None);
        let inner = "mod gone {\n#[cfg(test)] mod tests {}\n}\n";
        assert_eq!(with_tests_of("fn a() {}\n", inner), None);
    }

    #[test]
    fn finds_the_place_for_another_test() {
        let place = end_of_test_module(BASE).expect("a module");
        assert!(BASE[..place].ends_with("let s = \"}\"; }\n") && &BASE[place..] == "}\n");
    }

    fn source() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "fn f() { 1 }\n",
            "#[cfg(test)]\nmod tests { fn a() {} }\n",
            "mod m {\n",
            "}\n",
            "/// doc\n",
            "#[test] fn t() {}\n",
            "\"",
            "'",
            "'a ",
            "r#\"",
            "\"#",
            "/*",
            "*/",
            "// x\n",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "#",
            "!",
            "use a::{b};\n",
            "é",
            "b'x'",
            "struct S;\n",
            "#[cfg(any(test, unix))] const X: T = T { a: 1 };\n",
            "macro_rules! m { () => {} }\n",
            "\\",
        ]);
        prop::collection::vec(pieces, 0..30).prop_map(|it| it.concat())
    }

    proptest! {
        #[test]
        fn the_same_file_stays_the_same(text in source()) {
            prop_assert_eq!(with_tests_of(&text, &text), Some(text.clone()));
            // The same through the walk: a file that differs by one space at its end.
            let longer = format!("{text} ");
            if let Some(merged) = with_tests_of(&longer, &text) {
                prop_assert_eq!(merged, longer);
            }
        }

        #[test]
        fn takes_exactly_the_tests_of_the_other(text in source(), other in source()) {
            if let Some(merged) = with_tests_of(&text, &other)
                && let (Some(mut ours), Some(mut theirs)) = (test_texts(&merged), test_texts(&other))
                && text != other
            {
                ours.sort();
                theirs.sort();
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
