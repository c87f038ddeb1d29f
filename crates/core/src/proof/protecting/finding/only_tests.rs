//! Files outside of any test folder that nothing but tests and checks uses: `data/expected.json`, a
//! golden file in the root, a package of assertions. What they say is part of what the tests say, so
//! they are protected like them. A file belongs here if a test or a check script of the baseline names
//! it and no product file of the baseline does. Data needs nothing more. Source does, because a module
//! that only its test names is the usual product: its name or its text has to say that it asserts.
//!
//! The final tree is not asked: a word in a comment would be enough to take a file out of protection.

use crate::proof::trees::{Contents, Side};
use std::collections::BTreeSet;

/// Files whose text is searched for names; a larger project has more files and no other habits.
const FILES_LIMIT: usize = 4000;

const SOURCES: &[&str] = &[
    "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "rs", "go", "java", "kt", "kts",
    "scala", "c", "h", "cc", "cpp", "cxx", "hpp", "cs", "fs", "rb", "php", "swift", "sh", "bash", "zsh",
    "pl", "pm", "lua", "ex", "exs", "erl", "hs", "ml", "clj", "dart", "r", "jl", "vue", "svelte", "m", "mm",
    "zig", "nim",
];

/// Folders whose data is the product's if it names them at all.
const PRODUCT_FOLDERS: &[&str] = &[
    "src",
    "lib",
    "app",
    "source",
    "cmd",
    "pkg",
    "internal",
    "assets",
    "public",
    "static",
    "resources",
    "locales",
    "i18n",
    "templates",
    "migrations",
    "docs",
    "config",
    "conf",
];

/// Words by which data says that it is what tests compare with.
const EXPECTED: &[&str] = &[
    "expected",
    "expectation",
    "golden",
    "fixture",
    "snapshot",
    "reference",
    "approved",
    "answer",
    "oracle",
];

/// Words by which source says that it serves tests.
const HELPERS: &[&str] = &[
    "helper",
    "assert",
    "assertion",
    "expect",
    "expectation",
    "matcher",
    "fixture",
    "mock",
    "fake",
    "stub",
    "golden",
    "harness",
    "testing",
    "testkit",
    "testlib",
];

/// Words that say it where a check script names the file.
const CASES: &[&str] = &["case", "step", "check", "scenario", "suite"];

/// Words by which source without functions says that it is a table of what tests go through.
const TABLES: &[&str] = &["case", "scenario", "table", "vector", "example", "sample"];

/// A text that may name files.
struct Namer {
    text: String,
    /// A test, or something that runs tests.
    is_script: bool,
}

/// The tree that is searched for whoever uses a changed file.
pub(crate) struct SearchedTree<'a> {
    /// Paths of the baseline that the run changed or removed and that are protected by nothing else.
    pub(crate) changed: Vec<&'a String>,
    pub(crate) base_files: &'a [String],
    pub(crate) commands: &'a [String],
    pub(crate) is_test: &'a dyn Fn(&str) -> bool,
    /// Scripts of checks and files that configure runners.
    pub(crate) is_script: &'a dyn Fn(&str) -> bool,
}

/// Returns the changed files that nothing but tests and checks uses.
pub(crate) fn find(usage: &SearchedTree<'_>, contents: &Contents<'_>) -> BTreeSet<String> {
    let text = |path: &str| contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok());
    let may_be = |it: &&&String| may_be_of_tests(it, &text(it).unwrap_or_default());
    let candidates: Vec<&&String> = usage.changed.iter().filter(may_be).collect();
    if candidates.is_empty() {
        return BTreeSet::new();
    }
    let (mut namers, mut products) = (Vec::new(), Vec::new());
    namers.extend(usage.commands.iter().map(|it| Namer { text: it.clone(), is_script: true }));
    for path in usage.base_files.iter().take(FILES_LIMIT) {
        let (is_test, is_script) = ((usage.is_test)(path), (usage.is_script)(path));
        if is_script || is_test {
            let comparing = |it: String| if is_makefile(path) { comparing_lines(&it) } else { it };
            namers.extend(text(path).map(|it| Namer { text: comparing(it), is_script: !is_test }));
        } else if path.ends_with("package.json") {
            let (scripts, rest) = text(path).map(|it| package_texts(&it)).unwrap_or_default();
            namers.push(Namer { text: scripts, is_script: true });
            products.push((path, rest));
        } else if is_source(path) || is_manifest(path) {
            products.extend(text(path).map(|it| (path, it)));
        }
    }
    let belongs = |path: &&&String| {
        let own = text(path).unwrap_or_default();
        let is_named_by_product =
            |name: &dyn Fn(&str) -> bool| products.iter().any(|(other, text)| *other != **path && name(text));
        match is_source(path) {
            true => {
                let names = |text: &str| names_source(text, path);
                let named: Vec<&Namer> = namers.iter().filter(|it| names(&it.text)).collect();
                let by_script = named.iter().any(|it| it.is_script);
                !named.is_empty() && serves_tests(path, &own, by_script) && !is_named_by_product(&names)
            }
            false => {
                let by_name = |text: &str| names_file(text, path);
                let by_folder = |text: &str| names_folder(text, path);
                let is_named = namers.iter().any(|it| by_name(&it.text));
                // A test may put the name together; a script that reads a whole folder says so.
                let is_in_named = || {
                    namers
                        .iter()
                        .any(|it| by_folder(&it.text) && (!it.is_script || reads_all(&it.text, path)))
                };
                let product_names_folder = || is_named_by_product(&by_folder);
                !is_named_by_product(&by_name)
                    && (is_named && !(is_in_product_folder(path) && product_names_folder())
                        || is_in_named() && !product_names_folder())
            }
        }
    };
    candidates.into_iter().filter(belongs).map(|it| (**it).clone()).collect()
}

/// Tells by a file alone whether it is worth looking for who names it.
pub fn may_be_of_tests(path: &str, text: &str) -> bool {
    if is_source(path) {
        return serves_tests(path, text, true);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.starts_with('.') && !name.ends_with(".lock") && !is_manifest(path)
}

fn is_in_product_folder(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_lowercase();
    folder.split('/').any(|it| PRODUCT_FOLDERS.contains(&it)) && !has_word(path, EXPECTED)
}

fn is_source(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, it)| SOURCES.contains(&it.to_lowercase().as_str()))
}

fn is_manifest(path: &str) -> bool {
    crate::proof::protecting::class::mixed_path(path).is_some()
}

fn is_makefile(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    name.contains("makefile") || name.ends_with(".mk")
}

/// The scripts of a package, one a line, and what else its manifest says.
fn package_texts(text: &str) -> (String, String) {
    let Ok(mut manifest) = serde_json::from_str::<serde_json::Value>(text) else { return Default::default() };
    let scripts = manifest.as_object_mut().and_then(|it| it.remove("scripts")).unwrap_or_default();
    let lines = scripts.as_object().into_iter().flatten().filter_map(|(_, it)| it.as_str());
    (lines.map(|it| format!("{it}\n")).collect(), manifest.to_string())
}

/// Of a Makefile, the lines that compare something: the others build the product from its data.
fn comparing_lines(text: &str) -> String {
    let words = ["diff", "cmp", "grep", "test", "check", "expect", "golden"];
    let lines = text.lines().filter(|line| words.iter().any(|it| line.contains(it)));
    lines.map(|it| format!("{it}\n")).collect()
}

/// The words of a path, in the singular and in lower case.
fn has_word(path: &str, words: &[&str]) -> bool {
    let lower = path.to_lowercase();
    let mut parts = lower.split(['/', '_', '-', '.']);
    parts.any(|it| words.iter().any(|word| it == *word || it.strip_suffix('s') == Some(word)))
}

/// Whether source is there for tests: by its name, or by what it imports or defines.
fn serves_tests(path: &str, text: &str, by_script: bool) -> bool {
    const MARKS: &[&str] = &[
        "import unittest",
        "from unittest",
        "import pytest",
        "from pytest",
        "raise AssertionError",
        "def assert_",
        "node:test",
        "from 'vitest'",
        "from \"vitest\"",
        "function assert",
        "const assert",
        "exports.assert",
        "function expect",
        "exports.expect",
        "testing.T",
        "testing.TB",
    ];
    let is_node_assert = |it: &str| it.contains("require(") || it.contains("from ");
    let marked = MARKS.iter().any(|mark| {
        text.lines().any(|line| line.contains(mark) && !(*mark == "const assert" && is_node_assert(line)))
    });
    has_word(path, HELPERS) || marked || by_script && has_word(path, CASES) || is_table(path, text)
}

/// Whether source holds nothing but data, under a name that says for what: `cases.py`, `lib/table.js`.
fn is_table(path: &str, text: &str) -> bool {
    let begins = |words: &[&str]| {
        text.lines().map(str::trim_start).any(|line| words.iter().any(|it| line.starts_with(it)))
    };
    let has_functions = match path.rsplit_once('.').map(|(_, it)| it) {
        Some("py") => begins(&["def ", "async def ", "class "]) || text.contains("lambda"),
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts") => {
            ["function", "=>", "class "].iter().any(|it| text.contains(it))
        }
        _ => true,
    };
    has_word(path, TABLES) && !has_functions
}

/// Whether a text names a file by its name, or by its path where the name alone could be any word.
fn names_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.contains('.') {
        true => has_token(text, name),
        false => path.contains('/') && has_token(text, path) || is_quoted(text, name),
    }
}

/// Whether a text names the folder that a file lies in.
fn names_folder(text: &str, path: &str) -> bool {
    let Some((folder, _)) = path.rsplit_once('/') else { return false };
    let last = folder.rsplit('/').next().unwrap_or(folder);
    is_quoted(text, last) || is_quoted(text, folder) || has_token(text, &format!("{last}/"))
}

/// Whether a line of a text goes through the folder that a file lies in.
fn reads_all(text: &str, path: &str) -> bool {
    let reads =
        ["*", "glob", "listdir", "iterdir", "readdir", "ReadDir", "read_dir", "scandir", "Glob", "for "];
    text.lines().any(|line| names_folder(line, path) && reads.iter().any(|it| line.contains(it)))
}

/// Whether a text imports a module or a package, or starts it.
fn names_source(text: &str, path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |(it, _)| it);
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let module = if matches!(stem, "__init__" | "index" | "mod") { last } else { stem };
    if module.is_empty() {
        return false;
    }
    let is_import = |line: &str| {
        let line = line.trim_start();
        ["import ", "from ", "use ", "mod ", "require", "#[path", "include", ". ", "source ", "load"]
            .iter()
            .any(|it| line.starts_with(it))
            || line.contains("require(")
            || line.contains("import(")
            || line.contains("import_module(")
    };
    // A package of Go is a folder, and is imported by its path.
    if name.ends_with(".go") {
        return text.contains(&format!("/{last}\""));
    }
    let folder_is_read = || reads_all(text, path);
    text.lines().any(|line| has_token(line, name) || is_import(line) && has_token(line, module))
        || folder_is_read()
}

fn is_quoted(text: &str, word: &str) -> bool {
    ["\"", "'"].iter().any(|quote| text.contains(&format!("{quote}{word}{quote}")))
}

/// Whether a text has a word that is not a part of a longer one.
fn has_token(text: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '-';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before
            .is_some_and(|it| is_part(it) || it == '.' && !text[..at].ends_with("./") && !is_module(text, at))
            && (word.ends_with('/') || !after.is_some_and(is_part))
    })
}

/// Whether the dot before a word separates modules, as in `from helpers.money import x`.
fn is_module(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches('.').chars().next_back().is_some_and(|it| it.is_alphanumeric() || it == ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], commands: &[&str]) -> Vec<String> {
        let paths: Vec<String> = files.iter().map(|(it, _)| (*it).to_owned()).collect();
        let commands: Vec<String> = commands.iter().map(|it| (*it).to_owned()).collect();
        let contents = |_: Side, path: &str| {
            files.iter().find(|(it, _)| *it == path).map(|(_, it)| it.as_bytes().to_vec())
        };
        let is_test = |it: &str| it.starts_with("tests/");
        let is_script = |it: &str| it == "check.sh" || it == "Makefile";
        let usage = SearchedTree {
            changed: paths.iter().filter(|it| !is_test(it) && !is_script(it)).collect(),
            base_files: &paths,
            commands: &commands,
            is_test: &is_test,
            is_script: &is_script,
        };
        find(&usage, &contents).into_iter().collect()
    }

    #[test]
    fn data_that_only_tests_name_is_theirs() {
        let files = [
            (
                "tests/test_a.py",
                "json.load(open('data/expected.json')); read('data/rates.json'); open('golden')\n",
            ),
            ("shop/prices.py", "open('data/rates.json')\n"),
            (
                "tests/test_b.py",
                "read(os.path.join('wanted', name + '.md')); open('assets/tax.json'); open('assets/x.png')\n",
            ),
            ("shop/logo.py", "show('assets/logo.png')\n"),
            ("wanted/tax.md", ""),
            ("assets/tax.json", ""),
            ("data/expected.json", "[]"),
            ("data/rates.json", "[]"),
            ("golden", "x"),
            ("notes.txt", "x"),
            ("README.md", "expected.json"),
        ];
        assert_eq!(found(&files, &[]), ["data/expected.json", "golden", "wanted/tax.md"]);
    }

    #[test]
    fn data_that_a_check_compares_with_is_its_own() {
        let files = [
            (
                "check.sh",
                "./prog < in.txt | diff - out.txt\nfor it in cases/*; do sh prog.sh \"$it\"; done\n",
            ),
            ("Makefile", "words.h: words.txt\n\tcat words.txt > words.h\ntest:\n\tdiff out.txt got.txt\n"),
            ("in.txt", ""),
            ("out.txt", ""),
            ("words.txt", ""),
            ("cases/one", ""),
            ("prog.sh", "cat \"$1\"\n"),
        ];
        assert_eq!(found(&files, &["sh check.sh"]), ["cases/one", "in.txt", "out.txt"]);
    }

    #[test]
    fn source_has_to_say_that_it_serves_tests() {
        let files = [
            (
                "tests/test_a.py",
                "from shop.prices import total\nfrom helpers.money import same\nfrom near import x\n",
            ),
            (
                "tests/test_b.py",
                "import shop.basket\nimport quality.rules\nimport cases, table, shop.samples\n",
            ),
            ("shop/prices.py", "def total(it):\n    assert it\n"),
            ("shop/samples.py", "SAMPLES = []\n"),
            ("shop/basket.py", "from shop import mocks, samples\n"),
            ("shop/mocks.py", ""),
            ("helpers/money.py", ""),
            ("near.py", "import unittest\n"),
            ("quality/rules.py", "def check(it):\n    return it\n"),
            ("cases.py", "CASES = [(1, 2), (3, 4)]\n"),
            ("table.py", "def table():\n    return []\n"),
        ];
        assert_eq!(found(&files, &[]), ["cases.py", "helpers/money.py", "near.py"]);
        let files = [
            ("check.sh", "node run.js\nrequire('./cases/total')\n"),
            ("tests/a_test.go", "import \"example.com/shop/internal/same\"\n"),
            ("cases/total.js", ""),
            ("internal/same/same.go", "func Same(t testing.TB) {}\n"),
        ];
        assert_eq!(found(&files, &[]), ["cases/total.js", "internal/same/same.go"]);
    }
}
