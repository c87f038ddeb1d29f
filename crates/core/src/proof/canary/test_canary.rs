//! Tests that must fail. A canary is appended to one of the baseline's own test files under a name
//! that nobody could foresee; a runner that does not report it does not report failures. There is one
//! for each kind of test file in each folder, because a monorepo has a runner in every package. The
//! text never contains a word by which code could recognise it.

use crate::proof::protecting::rust_tests;
use crate::proof::results::ids::{Exit, NamedTests, Results, TestOutcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One test that must fail, as the whole text of the file that carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryPlan {
    /// The word that every report of their failure contains.
    pub word: String,
    pub canaries: Vec<Canary>,
}

/// More canaries than this add cost and no certainty.
pub(crate) const CANARIES_LIMIT: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CanaryKind {
    Python,
    Rust,
    Go,
    JavaScript,
    Bats,
    Ruby,
    Java,
}

/// Plans canaries. `files` are test files of the baseline (and Rust sources with tests in them) with
/// their text in the tree that will run; `word` is a random word of lower-case letters and digits that
/// begins with a letter, the same for A0 and the overlay.
pub fn canaries(files: &[(String, String)], word: &str) -> CanaryPlan {
    let mut plan = CanaryPlan { word: word.to_owned(), canaries: Vec::new() };
    let mut done: BTreeSet<(CanaryKind, &str)> = BTreeSet::new();
    for (path, text) in files {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(kind) = kind_of(name) else { continue };
        if plan.canaries.len() >= CANARIES_LIMIT || done.contains(&(kind, folder)) {
            continue;
        }
        if let Some(text) = with_canary(kind, path, text, word) {
            done.insert((kind, folder));
            plan.canaries.push(Canary { path: path.clone(), text });
        }
    }
    plan
}

/// Tells whether the check reported the failure of a canary.
pub fn canary_seen(results: &Results, output: &str, word: &str) -> bool {
    let named = results.names(TestOutcome::Failed).any(|it| carries(it, word));
    // A shell script has no name for its canary; it prints the word twice and fails.
    let is_printed = output.lines().any(|it| it.trim() == format!("{word} {word}"));
    match (results.exit, results.listing) {
        (Exit::Green | Exit::NotStarted | Exit::Interrupted, _) => false,
        (Exit::Red, NamedTests::All | NamedTests::Failures) => named || is_printed,
        // An unknown runner: it failed, and says the word that stands nowhere else.
        (Exit::Red, NamedTests::Nothing) => carries(output, word),
    }
}

/// Returns how many canaries were reported by name. A runner that stops at the first failure, or a
/// Makefile that does, reports fewer than were planted.
pub fn canaries_reported(results: &Results, word: &str) -> usize {
    results.names(TestOutcome::Failed).filter(|it| carries(it, word)).count()
}

/// Returns the results as they would be without canaries, for runners that go on after a failure. The
/// exit code is green where nothing else failed.
pub fn without_canary(results: &Results, word: &str) -> Results {
    let mut without = results.clone();
    without.ids.retain(|name, _| !carries(name, word));
    let taken = (results.ids.len() - without.ids.len()) as u32;
    without.failed = results.failed.saturating_sub(taken);
    let explained = taken > 0 && without.failed == 0 && results.complete && !results.build_failed;
    if results.exit == Exit::Red && explained {
        without.exit = Exit::Green;
    }
    without
}

fn carries(text: &str, word: &str) -> bool {
    text.to_lowercase().contains(&word.to_lowercase())
}

fn kind_of(name: &str) -> Option<CanaryKind> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_test = |prefix: &str, suffixes: &[&str]| {
        stem.starts_with(prefix) || suffixes.iter().any(|it| stem.ends_with(it))
    };
    match extension {
        "py" => {
            (is_test("test_", &["_test"]) || stem == "tests" || stem == "test").then_some(CanaryKind::Python)
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

fn with_canary(kind: CanaryKind, path: &str, text: &str, word: &str) -> Option<String> {
    let appended = |more: String| Some(format!("{}\n{more}\n", text.trim_end_matches('\n')));
    match kind {
        CanaryKind::Python if text.contains("unittest") => appended(format!(
            "\n\nclass Test_{word}(__import__(\"unittest\").TestCase):\n    def test_{word}(self):\n        \
             self.assertEqual(\"{word}\", \"\")"
        ))
        .map(|it| before_main(&it, text)),
        CanaryKind::Python if text.contains("import assert_that") && text.contains(").is_equal_to(") => {
            appended(format!("\n\ndef test_{word}():\n    assert_that(\"{word}\").is_equal_to(\"\")"))
        }
        CanaryKind::Python => appended(format!("\n\ndef test_{word}():\n    assert \"{word}\" == \"\"")),
        CanaryKind::Rust => rust(path, text, word),
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
            appended(format!("\nfunc Test{name}(t *testing.T) {{ {fails} }}"))
        }
        CanaryKind::Go => None,
        CanaryKind::JavaScript => java_script(path, text, word).and_then(appended),
        CanaryKind::Bats => appended(format!("\n@test \"{word}\" {{ false; }}")),
        CanaryKind::Ruby if text.contains("describe") => {
            appended(format!("\ndescribe(\"{word}\") {{ it(\"{word}\") {{ raise \"{word}\" }} }}"))
        }
        CanaryKind::Ruby if text.contains("Minitest") => {
            let name = capitalised(word);
            appended(format!(
                "\nclass Test{name} < Minitest::Test\n  def test_{word}\n    flunk \"{word}\"\n  end\nend"
            ))
        }
        CanaryKind::Ruby => None,
        CanaryKind::Java => java(text, word),
    }
}

/// `unittest.main()` at the end of a script runs what is defined above it.
fn before_main(appended: &str, text: &str) -> String {
    let Some(main) = text.rfind("\nif __name__ ==") else { return appended.to_owned() };
    let canary = &appended[text.trim_end_matches('\n').len()..];
    format!("{}{canary}{}", &text[..main], &text[main..])
}

/// At the end of a file of its own, or inside the test module of a source file.
fn rust(path: &str, text: &str, word: &str) -> Option<String> {
    // With the macro that tests use, which the code under test could have shadowed.
    let test = format!("#[test]\nfn {word}() {{ assert_eq!(\"{word}\", \"\") }}\n");
    if let Some(place) = rust_tests::end_of_test_module(text) {
        return Some(format!("{}\n{test}{}", &text[..place], &text[place..]));
    }
    // Without a module, only a file that is a target of its own or a test module runs it.
    let is_test_file = path.split('/').any(|it| it == "tests") || path.ends_with("tests.rs");
    let has_tests = rust_tests::test_texts(text).is_some_and(|it| !it.is_empty());
    (is_test_file && has_tests).then(|| format!("{}\n\n{test}", text.trim_end_matches('\n')))
}

fn java_script(path: &str, text: &str, word: &str) -> Option<String> {
    let has_import = text.lines().any(|it| it.starts_with("import ") || it.starts_with("import{"));
    let is_module = has_import || path.ends_with(".mjs") || path.ends_with(".mts");
    if text.contains("node:test") {
        return Some(match is_module {
            true => format!(
                "import {{ test as {word} }} from 'node:test';\nimport assert_{word} from 'node:assert';\n\
                 {word}('{word}', () => {{ assert_{word}.strictEqual('{word}', '') }});"
            ),
            false => format!(
                "require('node:test')('{word}', () => {{ require('node:assert').strictEqual('{word}', '') }});"
            ),
        });
    }
    if text.contains("'vitest'") || text.contains("\"vitest\"") {
        return Some(format!(
            "import {{ test as {word}, expect as expect_{word} }} from 'vitest';\n\
             {word}('{word}', () => {{ expect_{word}('{word}').toBe('') }});"
        ));
    }
    if text.contains("from 'ava'") || text.contains("from \"ava\"") || text.contains("require('ava')") {
        return Some(format!("test('{word}', t => t.is('{word}', ''));"));
    }
    // jest, mocha, jasmine and vitest with globals all know `it`; other files get none. The assertion
    // is the one that the file uses itself, because that is what could have been patched.
    let asserts = [".toBe(", ".toEqual(", ".toStrictEqual("].iter().any(|it| text.contains(it));
    let is_chai = calls(text, "expect") && text.contains(".to.equal(");
    let is_assert = calls(text, "assert") && text.contains("assert.strictEqual(");
    let fails = match (asserts, is_chai, is_assert) {
        (true, _, _) => format!("expect('{word}').toBe('')"),
        (false, true, _) => format!("expect('{word}').to.equal('')"),
        (false, false, true) => format!("assert.strictEqual('{word}', '')"),
        (false, false, false) => format!("throw new Error('{word}')"),
    };
    let has_tests = ["it", "test", "describe"].iter().any(|it| calls(text, it));
    has_tests.then(|| format!("it('{word}', () => {{ {fails} }});"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::results::readers::read_results;

    const WORD: &str = "kq7x2";

    fn one(path: &str, text: &str) -> Option<String> {
        canaries(&[(path.to_owned(), text.to_owned())], WORD).canaries.pop().map(|it| it.text)
    }

    #[test]
    fn fits_each_runner() {
        let rust = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
        let files = [
            ("tests/test_a.py", "import unittest\n\nif __name__ == '__main__':\n    unittest.main()\n"),
            ("tests/test_b.py", "def test_b():\n    pass\n"),
            ("src/lib.rs", rust),
            ("tests/a.rs", "#[test]\nfn a() {}\n"),
            ("calc_test.go", "package calc\nimport \"testing\"\n"),
            ("a.test.js", "const test = require('node:test');\n"),
            ("a.test.mjs", "import test from 'node:test';\n"),
            ("b.test.ts", "import { it } from 'vitest';\n"),
            ("c.test.js", "test('a', () => {});\n"),
            ("x.bats", "@test \"a\" { true; }\n"),
            ("src/test/CartTest.java", "import org.junit.jupiter.api.Test;\nclass CartTest {\n}\n"),
        ];
        let texts: Vec<String> = files
            .iter()
            .map(|(path, text)| format!("=== {path}\n{}", one(path, text).expect(path)))
            .collect();
        insta::assert_snapshot!("canaries", texts.concat());
        for (path, text) in [
            ("tests/helper.py", "x = 1\n"),
            ("src/lib.rs", "fn a() {}\n"),
            ("check.sh", "true\n"),
            ("a.js", "emit(a.test())\n"),
        ] {
            assert_eq!(one(path, text), None, "{path}");
        }
    }

    #[test]
    fn one_for_each_kind_and_folder() {
        let file = |path: &str| (path.to_owned(), "def test_a(): pass\n".to_owned());
        let plan = canaries(&[file("a/test_1.py"), file("a/test_2.py"), file("b/test_1.py")], WORD);
        let paths: Vec<&str> = plan.canaries.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["a/test_1.py", "b/test_1.py"]);
    }

    #[test]
    fn is_seen_as_a_failing_test_only() {
        let failing = "running 2 tests\ntest a ... ok\ntest kq7x2 ... FAILED\n\nfailures:\n    kq7x2\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\nerror: 1 target failed:\n";
        let results = read_results("tests", Exit::Red, failing, &[]);
        assert!(canary_seen(&results, failing, WORD));
        let without = without_canary(&results, WORD);
        assert_eq!((without.exit, without.failed, without.ids.len()), (Exit::Green, 0, 1));
        let forged = failing.replace("FAILED", "ok").replace("1 passed; 1 failed", "2 passed; 0 failed");
        let results = read_results("tests", Exit::Red, &forged, &[]);
        assert!(!canary_seen(&results, &forged, WORD));
        let silent = Results::by_exit("tests", Exit::Green);
        assert!(!canary_seen(&silent, "kq7x2 failed", WORD));
        assert!(canary_seen(&Results::by_exit("tests", Exit::Red), "not ok KQ7x2", WORD));
    }
}
