//! Files outside of any test folder that nothing but tests and checks uses: `data/expected.json`, a
//! golden file in the root, a package of assertions. What they say is part of what the tests say, so
//! they are protected like them. A file belongs here if a test or a check script of the baseline names
//! it and no product file of the baseline does. Data needs nothing more. Source does, because a module
//! that only its test names is the usual product: its name or its text has to say that it asserts, or it lies
//! where judges lie and stands beside the product in what uses it. A helper of tests is no product file, nor
//! is what such a helper uses. A comment or a list of packed files uses nothing (`code_text.rs`), and a
//! document whose examples are run is a test (`documents.rs`).
//!
//! The final tree is not asked: a word in a comment would be enough to take a file out of protection.

use super::code_text::{code_of, rust_texts, settings_of};
use super::documents;
use crate::proof::trees::{Contents, Side};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Files whose text is searched for names; a larger project has more files and no other habits.
const FILES_LIMIT: usize = 4000;

/// Helpers behind helpers that are followed.
const CHAIN_LIMIT: usize = 8;

/// How often all texts are searched for one name; a run that changes more files has other questions to answer.
const SCANS_LIMIT: u32 = 2000;

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

/// Folders in which projects keep what judges the product.
const QUALITY_FOLDERS: &[&str] = &[
    "qa",
    "quality",
    "acceptance",
    "conformance",
    "compliance",
    "check",
    "checks",
    "checker",
    "checkers",
    "verify",
    "verification",
    "oracle",
    "oracles",
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
    /// Protected whatever its name: a module that is declared for tests, a package that only tests use.
    pub(crate) is_protected: &'a dyn Fn(&str) -> bool,
}

/// Returns the changed files that nothing but tests and checks uses.
pub(crate) fn find(usage: &SearchedTree<'_>, contents: &Contents<'_>) -> BTreeSet<String> {
    let text = |path: &str| contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok());
    let may_be = |it: &&&String| may_be_of_tests(it, &text(it).unwrap_or_default());
    let candidates: Vec<&&String> = usage.changed.iter().filter(may_be).collect();
    if candidates.is_empty() {
        return BTreeSet::new();
    }
    let search = UseSearch::read(usage, &text);
    let belongs = |it: &&&String| search.belongs(it, &mut Vec::new());
    candidates.into_iter().filter(belongs).map(|it| (**it).clone()).collect()
}

struct UseSearch<'a> {
    usage: &'a SearchedTree<'a>,
    text: &'a dyn Fn(&str) -> Option<String>,
    namers: Vec<Namer>,
    /// What the product's files say, and the settings of manifests.
    products: Vec<(&'a String, String)>,
    /// Patterns of documents that pytest runs.
    documents: Vec<String>,
    scans: Cell<u32>,
}

impl<'a> UseSearch<'a> {
    fn read(usage: &'a SearchedTree<'a>, text: &'a dyn Fn(&str) -> Option<String>) -> UseSearch<'a> {
        let (mut namers, mut products, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        namers.extend(usage.commands.iter().map(|it| Namer { text: it.clone(), is_script: true }));
        for path in usage.base_files.iter().take(FILES_LIMIT) {
            let (is_test, is_script) = ((usage.is_test)(path), (usage.is_script)(path));
            if is_script || is_test {
                let comparing = |it: String| if is_makefile(path) { comparing_lines(&it) } else { it };
                let Some(whole) = text(path) else { continue };
                if is_script {
                    documents.extend(documents::globs(&whole));
                }
                namers.push(Namer { text: comparing(whole), is_script: !is_test });
            } else if path.ends_with("package.json") {
                let (scripts, rest) = text(path).map(|it| package_texts(&it)).unwrap_or_default();
                namers.push(Namer { text: scripts, is_script: true });
                products.push((path, rest));
            } else if path.ends_with(".rs") {
                let (tests, rest) = text(path).map(|it| rust_texts(&it)).unwrap_or_default();
                namers.extend((!tests.is_empty()).then_some(Namer { text: tests, is_script: false }));
                products.push((path, rest));
            } else if is_source(path) {
                products.extend(text(path).map(|it| (path, code_of(path, &it))));
            } else if is_manifest(path) {
                let Some(whole) = text(path) else { continue };
                documents.extend(documents::globs(&whole));
                products.push((path, settings_of(path, &whole)));
            }
        }
        documents.extend(namers.iter().filter(|it| it.is_script).flat_map(|it| documents::globs(&it.text)));
        UseSearch { usage, text, namers, products, documents, scans: Cell::new(SCANS_LIMIT) }
    }

    /// Whether nothing but tests, checks and what belongs to them uses a file. `trail` are the files that
    /// are asked about already: two helpers that use each other do not make each other the product's.
    fn belongs(&self, path: &str, trail: &mut Vec<String>) -> bool {
        let own = (self.text)(path).unwrap_or_default();
        if is_source(path) {
            self.source_belongs(path, &own, trail)
        } else {
            self.data_belongs(path, &own, trail)
        }
    }

    fn source_belongs(&self, path: &str, own: &str, trail: &mut Vec<String>) -> bool {
        let stands_apart = stands_apart(path, own);
        if !stands_apart && !serves_tests(path, own, true) {
            return false;
        }
        let names = |text: &str| names_source(text, path);
        let Some(helpers) = self.helpers_that(path, &names, trail) else { return false };
        let named: Vec<&Namer> = self.namers.iter().filter(|it| names(&it.text)).collect();
        let by_script = named.iter().any(|it| it.is_script);
        let users = || named.iter().map(|it| it.text.as_str()).chain(helpers.iter().copied());
        users().next().is_some()
            && (serves_tests(path, own, by_script)
                || stands_apart
                    && self.is_among_helpers(path)
                    && users().chain([own]).any(|it| self.uses_product(it, path)))
    }

    fn data_belongs(&self, path: &str, own: &str, trail: &mut Vec<String>) -> bool {
        let by_name = |text: &str| names_file(text, path);
        let by_folder = |text: &str| names_folder(text, path);
        if documents::has_examples(path, own) {
            let runs = |it: &Namer| documents::runs_examples(&it.text) && by_name(&it.text);
            if self.documents.iter().any(|it| documents::takes(it, path)) || self.namers.iter().any(runs) {
                return true;
            }
        }
        let Some(helpers) = self.helpers_that(path, &by_name, trail) else { return false };
        let is_named = !helpers.is_empty() || self.namers.iter().any(|it| by_name(&it.text));
        // A test may put the name together; a script that reads a whole folder says so.
        let goes_through = |it: &Namer| by_folder(&it.text) && (!it.is_script || reads_all(&it.text, path));
        let is_in_named = self.namers.iter().any(goes_through);
        if is_named && !is_in_product_folder(path) {
            return true;
        }
        let helpers = self.helpers_that(path, &by_folder, trail);
        helpers.is_some_and(|it| is_named || is_in_named || !it.is_empty())
    }

    /// What the helpers of tests say that use a file; nothing if the product uses it.
    fn helpers_that(
        &self,
        path: &str,
        names: &dyn Fn(&str) -> bool,
        trail: &mut Vec<String>,
    ) -> Option<Vec<&str>> {
        self.scans.set(self.scans.get().checked_sub(1)?);
        let users = self.products.iter().filter(|(other, text)| *other != path && names(text));
        let mut helpers = Vec::new();
        for (user, text) in users {
            if !self.is_helper(user, path, trail) {
                return None;
            }
            helpers.push(text.as_str());
        }
        Some(helpers)
    }

    /// Whether a file that uses another one is there for tests alone.
    fn is_helper(&self, user: &str, path: &str, trail: &mut Vec<String>) -> bool {
        if trail.iter().any(|it| it == user) || (self.usage.is_protected)(user) {
            return true;
        }
        if !is_source(user) || user.ends_with(".rs") || trail.len() >= CHAIN_LIMIT {
            return false;
        }
        trail.push(path.to_owned());
        let belongs = self.belongs(user, trail);
        trail.pop();
        belongs
    }

    /// Whether the sources beside a file are not the product either.
    fn is_among_helpers(&self, path: &str) -> bool {
        let is_beside = |it: &&String| {
            is_source(it)
                && folder_of(it) == folder_of(path)
                && !it.ends_with("__init__.py")
                && !(self.usage.is_test)(it)
                && !(self.usage.is_script)(it)
        };
        self.usage.base_files.iter().filter(is_beside).all(|it| {
            let text = (self.text)(it).unwrap_or_default();
            stands_apart(it, &text) || serves_tests(it, &text, false)
        })
    }

    /// Whether a text imports source that stands elsewhere and does not serve tests itself.
    fn uses_product(&self, text: &str, helper: &str) -> bool {
        let is_product = |it: &&String| {
            is_source(it)
                && folder_of(it) != folder_of(helper)
                && !(self.usage.is_test)(it)
                && !(self.usage.is_script)(it)
                && !has_word(it, HELPERS)
                && !is_in_quality_folder(it)
        };
        self.usage.base_files.iter().filter(is_product).any(|it| names_source(text, it))
    }
}

/// Tells by a file alone whether it is worth looking for who names it.
pub fn may_be_of_tests(path: &str, text: &str) -> bool {
    if is_source(path) {
        return serves_tests(path, text, true) || stands_apart(path, text);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.starts_with('.') && !name.ends_with(".lock") && !is_manifest(path)
}

/// Whether source lies where a project keeps what judges the product, or asserts and returns nothing. It
/// serves tests if they use it beside a product that stands elsewhere.
fn stands_apart(path: &str, text: &str) -> bool {
    let is_product = is_in_folder(path, PRODUCT_FOLDERS);
    !is_product && (is_in_quality_folder(path) || only_asserts(path, text))
}

fn is_in_quality_folder(path: &str) -> bool {
    is_in_folder(path, QUALITY_FOLDERS)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

fn is_in_folder(path: &str, names: &[&str]) -> bool {
    let folder = folder_of(path).to_lowercase();
    folder.split('/').any(|it| names.contains(&it))
}

/// Whether a function of a source asserts and returns nothing.
fn only_asserts(path: &str, text: &str) -> bool {
    match path.rsplit_once('.').map(|it| it.1) {
        Some("py") => {
            let mut functions = text.split("\ndef ").enumerate();
            functions.any(|(at, it)| {
                let Some((_, body)) = it.split_once('\n').filter(|_| 0 < at || text.starts_with("def "))
                else {
                    return false;
                };
                let inside =
                    || body.lines().take_while(|it| it.starts_with([' ', '\t']) || it.trim().is_empty());
                let begins = |word: &str| inside().any(|it| it.trim_start().starts_with(word));
                begins("assert ") && !begins("return ") && !begins("yield")
            })
        }
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts") => {
            let returns = text.contains("return ")
                || text.split("=>").skip(1).any(|it| !it.trim_start().starts_with('{'));
            text.contains("throw ") && !returns
        }
        _ => false,
    }
}

fn is_in_product_folder(path: &str) -> bool {
    is_in_folder(path, PRODUCT_FOLDERS) && !has_word(path, EXPECTED)
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
    // What a package ships is not what it reads.
    manifest.as_object_mut().and_then(|it| it.remove("files"));
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
mod tests;
