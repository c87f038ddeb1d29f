//! Tests that must fail. A canary is appended to one of the baseline's own test files under a name
//! that nobody could foresee; a runner that does not report it does not report failures. There is one
//! for each form of assertion that the tests use, in one file of each kind in each folder, because a
//! monorepo has a runner in every package, and in every Rust source with tests in it, because a macro is
//! replaced for one file. The text never contains a word by which code could recognise it.

use super::carrier::{CanaryKind, Carrier};
use crate::proof::protecting::names::is_test_path;
use crate::proof::results::ids::{Exit, NamedTests, Results, TestOutcome};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Tests that must fail, as the whole text of the file that carries them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    pub path: String,
    pub text: String,
    /// How many tests it has; a script fails once.
    pub tests: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryPlan {
    /// The word that every report of their failure contains.
    pub word: String,
    pub canaries: Vec<Canary>,
}

/// More canaries than this add cost and no certainty.
pub(crate) const CANARIES_LIMIT: usize = 16;

/// Tests inside sources are built with them, at no cost of their own.
const SOURCES_LIMIT: usize = 100;

/// Text of tests that is searched for the forms of assertions that they use.
const FORMS_LENGTH_LIMIT: usize = 4 << 20;

/// Plans canaries. `files` are test files of the baseline (and Rust sources with tests in them) with
/// their text in the tree that will run; `word` is a random word of lower-case letters and digits that
/// begins with a letter, the same for A0 and the overlay.
pub fn canaries(files: &[(String, String)], word: &str) -> CanaryPlan {
    let mut plan = CanaryPlan { word: word.to_owned(), canaries: Vec::new() };
    let mut done: BTreeSet<(CanaryKind, &str)> = BTreeSet::new();
    let mut forms: BTreeMap<CanaryKind, String> = BTreeMap::new();
    for (path, text) in files {
        let all = CanaryKind::of(path, text).map(|it| forms.entry(it).or_default());
        if let Some(all) = all.filter(|it| it.len() < FORMS_LENGTH_LIMIT) {
            all.push_str(text);
        }
    }
    for (path, text) in files {
        let folder = path.rsplit_once('/').map_or("", |it| it.0);
        let Some(kind) = CanaryKind::of(path, text) else { continue };
        let is_source = kind == CanaryKind::Rust && !is_test_path(path);
        let most = if is_source { SOURCES_LIMIT } else { CANARIES_LIMIT };
        if plan.canaries.len() >= most || done.contains(&(kind, folder)) && !is_source {
            continue;
        }
        let carrier = Carrier { kind, path, text, tests: &forms[&kind], word };
        if let Some((text, tests)) = carrier.with_canary() {
            done.insert((kind, folder));
            plan.canaries.push(Canary { path: path.clone(), text, tests });
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

/// Returns the names of the canaries that a check reported as failed. A runner that stops at the first
/// failure, or a Makefile that does, reports fewer than were planted.
pub fn reported_canaries(results: &Results, word: &str) -> BTreeSet<String> {
    results.names(TestOutcome::Failed).filter(|it| carries(it, word)).map(str::to_owned).collect()
}

/// Returns the results as they would be without canaries, for runners that continue after a failure. The
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
    fn one_for_each_form_in_any_file() {
        let file = |path: &str, body: &str| (path.to_owned(), format!("import unittest\n{body}\n"));
        let files =
            [file("t/test_1.py", "class A(TestCase): pass"), file("t/test_2.py", "self.assertIn(1, [])")];
        let plan = canaries(&files, WORD);
        assert_eq!((plan.canaries.len(), plan.canaries[0].tests), (1, 2));
        assert!(plan.canaries[0].text.contains("def test_kq7x2_1(self):\n        self.assertIn("));
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
