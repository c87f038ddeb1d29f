//! The text of a test file with tests that must fail, in the words of its own runner and with every form of
//! assertion that the project's tests use.

use super::assertions;
use crate::proof::protecting::mixed::rust_tests;

/// Runners that want their tests written differently.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CanaryKind {
    Unittest,
    Pytest,
    Rust,
    Go,
    JavaScript,
    Bats,
    Ruby,
    Java,
}

/// A file that is to carry tests that must fail.
pub(super) struct Carrier<'a> {
    pub(super) kind: CanaryKind,
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    /// The texts of all files of this kind, for the forms that they use.
    pub(super) tests: &'a str,
    pub(super) word: &'a str,
}

impl CanaryKind {
    pub(super) fn of(path: &str, text: &str) -> Option<CanaryKind> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, extension) = name.rsplit_once('.')?;
        let is_test = |prefix: &str, suffixes: &[&str]| {
            stem.starts_with(prefix) || suffixes.iter().any(|it| stem.ends_with(it))
        };
        match extension {
            "py" if text.contains("unittest") => {
                let has_case = text.contains("TestCase") || is_test("test", &["_test", "tests"]);
                has_case.then_some(CanaryKind::Unittest)
            }
            "py" => {
                let is_named = is_test("test_", &["_test"]) || stem == "tests" || stem == "test";
                is_named.then_some(CanaryKind::Pytest)
            }
            "rs" => Some(CanaryKind::Rust),
            "go" => stem.ends_with("_test").then_some(CanaryKind::Go),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => Some(CanaryKind::JavaScript),
            "bats" => Some(CanaryKind::Bats),
            "rb" => is_test("test_", &["_test", "_spec"]).then_some(CanaryKind::Ruby),
            "java" => is_test("Test", &["Test", "Tests", "IT"]).then_some(CanaryKind::Java),
            _ => None,
        }
    }
}

impl Carrier<'_> {
    /// Returns the text of the file with its tests, and their number.
    pub(super) fn with_canary(&self) -> Option<(String, usize)> {
        let Carrier { text, word, .. } = self;
        let appended = |more: String| format!("{}\n{more}\n", text.trim_end_matches('\n'));
        let one = |more: String| Some((appended(more), 1));
        match self.kind {
            CanaryKind::Unittest => Some(self.unittest()),
            CanaryKind::Pytest => Some(self.pytest()),
            CanaryKind::Rust => self.rust(),
            CanaryKind::Go if text.contains("\"testing\"") => {
                let name = capitalised(word);
                // With the library that the file uses, which could have been replaced.
                let library = |it: &&&str| {
                    text.contains(&format!("testify/{it}\"")) && text.contains(&format!("{it}.Equal("))
                };
                let fails = match ["require", "assert"].iter().find(library) {
                    Some(it) => format!("{it}.Equal(t, \"{word}\", \"\")"),
                    None => format!("t.Fatal(\"{word}\")"),
                };
                one(format!("\nfunc Test{name}(t *testing.T) {{ {fails} }}"))
            }
            CanaryKind::Go => None,
            CanaryKind::JavaScript => self.java_script().map(|(more, tests)| (appended(more), tests)),
            CanaryKind::Bats => one(format!("\n@test \"{word}\" {{ false; }}")),
            CanaryKind::Ruby if text.contains("describe") => {
                one(format!("\ndescribe(\"{word}\") {{ it(\"{word}\") {{ raise \"{word}\" }} }}"))
            }
            CanaryKind::Ruby if text.contains("Minitest") => {
                let name = capitalised(word);
                one(format!(
                    "\nclass Test{name} < Minitest::Test\n  def test_{word}\n    flunk \"{word}\"\n  end\nend"
                ))
            }
            CanaryKind::Ruby => None,
            CanaryKind::Java => java(text, word).map(|it| (it, 1)),
        }
    }

    /// Before `unittest.main()`, which runs what is defined above it.
    fn unittest(&self) -> (String, usize) {
        let Carrier { text, word, .. } = self;
        let bodies = assertions::unittest(self.tests, word);
        let mut class = format!("\n\nclass Test_{word}(__import__(\"unittest\").TestCase):\n");
        for (number, body) in bodies.iter().enumerate() {
            let name = numbered(word, number);
            class.push_str(&format!("    def test_{name}(self):\n{}\n", indented(body, 8)));
        }
        let main = text.rfind("\nif __name__ ==").unwrap_or(text.trim_end_matches('\n').len());
        (format!("{}\n{class}{}", &text[..main], &text[main..]), bodies.len())
    }

    fn pytest(&self) -> (String, usize) {
        let Carrier { text, word, .. } = self;
        let mut bodies = assertions::pytest(self.tests, word);
        if text.contains("import assert_that") && text.contains(").is_equal_to(") {
            bodies.push(format!("assert_that(\"{word}\").is_equal_to(\"\")"));
        }
        let mut more = text.trim_end_matches('\n').to_owned();
        for (number, body) in bodies.iter().enumerate() {
            let name = numbered(word, number);
            more.push_str(&format!("\n\n\ndef test_{name}():\n{}\n", indented(body, 4)));
        }
        (more, bodies.len())
    }

    /// At the end of a file of its own, or inside the test module of a source file.
    fn rust(&self) -> Option<(String, usize)> {
        let Carrier { text, word, .. } = self;
        let bodies = assertions::rust(self.tests, word);
        let mut tests = String::new();
        for (number, body) in bodies.iter().enumerate() {
            tests.push_str(&format!("#[test]\nfn {}() {{ {body} }}\n", numbered(word, number)));
        }
        let mut count = bodies.len();
        if self.tests.contains("should_panic") {
            tests.push_str(&format!("#[test]\n#[should_panic]\nfn {}() {{}}\n", numbered(word, count)));
            count += 1;
        }
        if let Some(place) = rust_tests::end_of_test_module(text) {
            return Some((format!("{}\n{tests}{}", &text[..place], &text[place..]), count));
        }
        // Without a module, a file with bare tests runs one more.
        let has_tests = rust_tests::test_texts(text).is_some_and(|it| !it.is_empty());
        has_tests.then(|| (format!("{}\n\n{tests}", text.trim_end_matches('\n')), count))
    }

    fn java_script(&self) -> Option<(String, usize)> {
        let Carrier { path, text, tests, word, .. } = self;
        let has_import = text.lines().any(|it| it.starts_with("import ") || it.starts_with("import{"));
        let is_module = has_import || path.ends_with(".mjs") || path.ends_with(".mts");
        if text.contains("node:test") {
            let module = assertions::node_module(tests);
            let assert = format!("assert_{word}");
            let (calls, count) = self.listed(word, &assertions::node(tests, word, &assert));
            let needs = match is_module {
                true => {
                    format!("import {{ test as {word} }} from 'node:test';\nimport {assert} from '{module}';")
                }
                false => format!("const {word} = require('node:test'), {assert} = require('{module}');"),
            };
            return Some((format!("{needs}\n{calls}"), count));
        }
        if text.contains("'vitest'") || text.contains("\"vitest\"") {
            let expect = format!("expect_{word}");
            let (calls, count) = self.listed(word, &assertions::expect(tests, word, &expect));
            let needs = format!("import {{ test as {word}, expect as {expect} }} from 'vitest';");
            return Some((format!("{needs}\n{calls}"), count));
        }
        if text.contains("from 'ava'") || text.contains("from \"ava\"") || text.contains("require('ava')") {
            return Some((format!("test('{word}', t => t.is('{word}', ''));"), 1));
        }
        // jest, mocha, jasmine and vitest with globals all know `it`; other files get none. The assertion
        // is the one that the file uses itself, because that is what could have been patched.
        let asserts = [".toBe(", ".toEqual(", ".toStrictEqual("].iter().any(|it| text.contains(it));
        let is_chai = calls(text, "expect") && text.contains(".to.equal(");
        let is_assert = calls(text, "assert") && text.contains("assert.strictEqual(");
        let fails = match (asserts, is_chai, is_assert) {
            (true, _, _) => assertions::expect(tests, word, "expect"),
            (false, true, _) => vec![format!("expect('{word}').to.equal('')")],
            (false, false, true) => assertions::node(text, word, "assert"),
            (false, false, false) => vec![format!("throw new Error('{word}')")],
        };
        let has_tests = ["it", "test", "describe"].iter().any(|it| calls(text, it));
        has_tests.then(|| self.listed("it", &fails))
    }

    /// One call of the runner for each body.
    fn listed(&self, call: &str, bodies: &[String]) -> (String, usize) {
        let line = |(number, body): (usize, &String)| {
            format!("{call}('{}', () => {{ {body} }});", numbered(self.word, number))
        };
        (bodies.iter().enumerate().map(line).collect::<Vec<String>>().join("\n"), bodies.len())
    }
}

/// The name of the first test is the word itself.
fn numbered(word: &str, number: usize) -> String {
    if number == 0 { word.to_owned() } else { format!("{word}_{number}") }
}

fn indented(text: &str, by: usize) -> String {
    let blanks = " ".repeat(by);
    text.lines().map(|it| format!("{blanks}{it}")).collect::<Vec<String>>().join("\n")
}

/// Tells whether a text calls a global function, `it(` or `it.each`, and not `emit(` or `a.it(`.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let is_own = !before.is_some_and(|it| it.is_alphanumeric() || "_$.'\"".contains(it));
        is_own && text[at + name.len()..].starts_with(['(', '.'])
    })
}

fn java(text: &str, word: &str) -> Option<String> {
    let attribute = match text {
        _ if text.contains("org.junit.jupiter") => "@org.junit.jupiter.api.Test",
        _ if text.contains("org.junit.Test") => "@org.junit.Test",
        _ => return None,
    };
    let end = text.trim_end().strip_suffix('}')?.len();
    let test =
        format!("    {attribute}\n    public void {word}() {{ throw new AssertionError(\"{word}\"); }}\n");
    Some(format!("{}\n{test}{}", &text[..end], &text[end..]))
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|it| it.to_ascii_uppercase()).into_iter().chain(characters).collect()
}
