//! Which files the baseline protects: tests, control files (what runs and how), and mixed files, of
//! which a part is protected. Decided by path, by the globs of `[proof] protect`, by the scripts that
//! check commands name, and for Rust by `#[cfg(test)] mod x;`. Names are compared without regard to
//! case, except where only capitals tell a test from a word (`CartTest.java`, `Latest.java`).

use crate::proof::protecting::class::{Class, Mixed, mixed, mixed_path};
use crate::proof::protecting::commands::{cmake_tests, make_targets, scripts};
use crate::proof::protecting::finding::foreign_modules::ForeignModules;
use crate::proof::protecting::finding::hidden_files::hidden_by;
use crate::proof::protecting::finding::only_tests::{self, SearchedTree};
use crate::proof::protecting::finding::test_texts::{
    has_tests_by_text, is_c_test_program, is_test_text, rust_modules_by_path,
};
use crate::proof::protecting::finding::{test_generators, test_packages};
use crate::proof::protecting::mixed::rust_tests;
use crate::proof::protecting::names::{
    is_control_folder, is_control_name, is_test_folder, is_test_name, is_test_path,
};
use crate::proof::trees::{Contents, Side};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;

/// What is protected in one run.
#[derive(Clone, Debug)]
pub struct ProtectedFiles {
    protect: GlobSet,
    /// Files that check commands start, directly or through a Makefile or a package script, and build scripts
    /// that write tests.
    scripts: BTreeSet<String>,
    foreign: ForeignModules,
    /// Packages that only tests use.
    test_packages: Vec<String>,
    /// Folders that a package manager filled and git tracks.
    vendored: Vec<String>,
    /// Changed files that nothing but tests and checks uses.
    of_tests: BTreeSet<String>,
    /// Files of the baseline that only their text tells to be tests.
    test_texts: BTreeSet<String>,
    /// Paths that make takes for targets and that the baseline did not have.
    make_targets: BTreeSet<String>,
}

/// Modules above a Rust file that are asked whether they declare it for tests only.
const MODULE_DEPTH_LIMIT: usize = 8;

/// Sources whose text is looked at for tests; in a larger project, names and folders have to say it.
const TEXTS_LIMIT: usize = 1000;

const FILE_MODE: u32 = 0o100644;
const LINK_MODE: u32 = 0o120000;
const SUBMODULE_MODE: u32 = 0o160000;

impl ProtectedFiles {
    /// `protect` are the globs of `[proof] protect`; `commands` the commands of the checks, whose
    /// scripts are control files; `base_files` the paths of the baseline, `changed` those of them that
    /// the run changed, removed or hid. Returns the glob that cannot be read.
    pub fn new(
        protect: &[String],
        commands: &[String],
        base_files: &[String],
        changed: &[String],
        contents: &Contents<'_>,
    ) -> Result<ProtectedFiles, String> {
        let mut globs = GlobSetBuilder::new();
        for pattern in protect {
            globs.add(glob(pattern).map_err(|error| format!("{pattern}: {error}"))?);
        }
        let protect = globs.build().map_err(|error| error.to_string())?;
        let mut scripts = scripts::named(commands, base_files, contents);
        scripts.extend(test_generators::of_tests(base_files, contents));
        let tests: Vec<&String> = base_files.iter().filter(|it| is_test_path(it)).collect();
        let foreign = ForeignModules::read(base_files, &tests, contents);
        let test_packages = test_packages::folders(base_files, contents);
        let mut rules = ProtectedFiles {
            protect,
            scripts,
            foreign,
            test_packages,
            vendored: vendored_folders(base_files),
            of_tests: BTreeSet::new(),
            test_texts: BTreeSet::new(),
            make_targets: BTreeSet::new(),
        };
        rules.read_texts(commands, base_files, contents);
        rules.of_tests = rules.only_of_tests(commands, base_files, changed, contents);
        Ok(rules)
    }

    /// What the text of the baseline's files says beyond their names.
    fn read_texts(&mut self, commands: &[String], base_files: &[String], contents: &Contents<'_>) {
        let text = |path: &str| contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok());
        let reach = make_targets::reached(commands, &text);
        let is_there = |target: &String| {
            let folder = format!("{target}/");
            base_files.iter().any(|it| it == target || it.starts_with(&folder))
        };
        self.make_targets = reach.targets.iter().filter(|it| !is_there(it)).cloned().collect();
        let sources = || base_files.iter().filter(|it| has_tests_by_text(it));
        let are_few = sources().count() <= TEXTS_LIMIT;
        if are_few {
            let is_test = |it: &&String| text(it).is_some_and(|text| is_test_text(it, &text));
            self.test_texts = sources().filter(is_test).cloned().collect();
        }
        let lists = base_files.iter().filter(|it| mixed_path(it) == Some(Mixed::CMake));
        let of_cmake: BTreeSet<String> =
            lists.filter_map(|it| Some(cmake_tests::sources(it, &text(it)?))).flatten().collect();
        let is_program = |it: &&String| {
            let is_named = reach.named.contains(it.as_str()) || are_few && reach.names_source(it);
            (is_named || of_cmake.contains(it.as_str()))
                && text(it).is_some_and(|text| is_c_test_program(it, &text))
        };
        self.test_texts.extend(base_files.iter().filter(is_program).cloned());
        let rust_tests = base_files.iter().filter(|it| it.ends_with(".rs") && is_test_path(it));
        let modules = rust_tests.filter_map(|it| Some(rust_modules_by_path(it, &text(it)?))).flatten();
        self.test_texts.extend(modules.filter(|it| base_files.contains(it)));
    }

    /// Make would take this path, or the folder that it is in, for something that is made already.
    fn is_make_target(&self, path: &str, contents: &Contents<'_>) -> bool {
        let is_at =
            |it: &String| path == it || path.strip_prefix(it.as_str()).is_some_and(|it| it.starts_with('/'));
        self.make_targets.iter().any(is_at) && contents(Side::Base, path).is_none()
    }

    fn only_of_tests(
        &self,
        commands: &[String],
        base_files: &[String],
        changed: &[String],
        contents: &Contents<'_>,
    ) -> BTreeSet<String> {
        let class = |path: &str| self.classify(path, FILE_MODE, contents);
        let is_open = |path: &&String| match class(path) {
            Class::Ordinary => true,
            // In a package of Rust, what only tests use is known by how it is declared.
            Class::Mixed(_) | Class::Test | Class::Control => false,
        };
        let is_named =
            |it: &str| is_control_name(it.rsplit('/').next().unwrap_or(it).to_lowercase().as_str());
        let usage = SearchedTree {
            changed: changed.iter().filter(is_open).collect(),
            base_files,
            commands,
            is_test: &is_test_path,
            is_script: &|it| self.scripts.contains(it) || is_named(it),
            is_protected: &|it| class(it) == Class::Test,
        };
        only_tests::find(&usage, contents)
    }

    /// Takes in what the checks printed on the baseline.
    pub fn forget_missing_modules(&mut self, printed: &str) {
        self.foreign.forget_missing(printed);
    }

    /// Tells whether a path that the baseline did not have is imported in the place of a module that its
    /// tests take from elsewhere.
    pub(crate) fn hides_a_module(&self, path: &str, contents: &Contents<'_>) -> bool {
        self.foreign.is_at(path) && contents(Side::Base, path).is_none()
    }

    /// Tells whether a path that the baseline did not have hides a test or a helper of its tests. A package of
    /// Python beside a module of its name hides that one for no good reason: who makes a package of a module
    /// moves it.
    fn hides_a_test(&self, path: &str, contents: &Contents<'_>) -> bool {
        let is_there = |path: &str| contents(Side::Base, path).is_some();
        let hidden: Vec<String> = hidden_by(path).into_iter().filter(|it| is_there(it)).collect();
        let is_protected =
            |it: &String| matches!(self.classify(it, FILE_MODE, contents), Class::Test | Class::Control);
        let is_left = |it: &String| it.ends_with(".py") && contents(Side::Final, it).is_some();
        !hidden.is_empty() && !is_there(path) && hidden.iter().any(|it| is_left(it) || is_protected(it))
    }

    /// A file of a package that lies in the tree is not the project's own text. One that was added is:
    /// no original test can use a package that was not there.
    fn is_vendored(&self, path: &str, contents: &Contents<'_>) -> bool {
        let inside = self.vendored.iter().any(|it| path.starts_with(it.as_str()));
        inside && !path.ends_with("/modules.txt") && contents(Side::Base, path).is_some()
    }

    /// A vendor folder that the run added is built from by Go without being asked, in the place of the
    /// packages that the original tests import.
    fn is_newly_vendored(path: &str, contents: &Contents<'_>) -> bool {
        let ends = path.match_indices("vendor/").filter(|(at, _)| *at == 0 || path[..*at].ends_with('/'));
        let mut marks = ends.map(|(at, it)| format!("{}modules.txt", &path[..at + it.len()]));
        marks.any(|it| contents(Side::Base, &it).is_none() && contents(Side::Final, &it).is_some())
    }

    /// Classifies a path; `mode` is its git mode on either side.
    pub fn classify(&self, path: &str, mode: u32, contents: &Contents<'_>) -> Class {
        if self.protect.is_match(path) {
            return Class::Test;
        }
        let lower = path.to_lowercase();
        let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
        let is_folder = matches!(mode, LINK_MODE | SUBMODULE_MODE);
        let mut folders = folder.split('/').chain(is_folder.then_some(name)).filter(|it| !it.is_empty());
        if folders.clone().any(is_control_folder) {
            return Class::Control;
        }
        if self.of_tests.contains(path) {
            return Class::Test;
        }
        if self.test_texts.contains(path) {
            return Class::Test;
        }
        if is_control_name(name) || self.scripts.contains(path) || self.is_vendored(path, contents) {
            return Class::Control;
        }
        if self.is_make_target(path, contents) || Self::is_newly_vendored(path, contents) {
            return Class::Control;
        }
        if self.hides_a_module(path, contents) || self.hides_a_test(path, contents) {
            return Class::Test;
        }
        let is_of_tests = || self.test_packages.iter().any(|it| path.starts_with(it.as_str()));
        if folders.any(is_test_folder) || is_test_name(path) || is_of_tests() {
            return mixed(name).filter(|it| *it != Mixed::RustSource).map_or(Class::Test, Class::Mixed);
        }
        match mixed(name) {
            Some(Mixed::RustSource) if is_test_module(path, contents, 0) => Class::Test,
            Some(kind) => Class::Mixed(kind),
            None => Class::Ordinary,
        }
    }
}

/// Tells whether the text of a baseline's file is asked for to tell what is protected: tests, for what
/// they import, and manifests and scripts, for what they name.
pub fn says_what_is_protected(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    is_test_path(path) || mixed(&name).is_some() || is_control_name(&name) || has_tests_by_text(path)
}

/// Tells whether a path matches a person's glob, as `--allow-test-change` and waivers use them. A
/// pattern without a slash matches in every folder.
pub(crate) fn glob_matches(pattern: &str, path: &str) -> bool {
    glob(pattern).is_ok_and(|it| it.compile_matcher().is_match(path))
}

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let whole = match (pattern.strip_suffix('/'), pattern.contains('/')) {
        (Some(folder), _) => format!("{folder}/**"),
        (None, true) => pattern.to_owned(),
        (None, false) => format!("**/{pattern}"),
    };
    GlobBuilder::new(&whole).literal_separator(true).build()
}

/// Folders with the mark of `go mod vendor` or `cargo vendor`.
fn vendored_folders(files: &[String]) -> Vec<String> {
    let marks = ["vendor/modules.txt", "/.cargo-checksum.json"];
    let folder = |path: &String| {
        let mark = marks.iter().find(|it| path.ends_with(**it))?;
        let name = mark.rsplit('/').next()?;
        path.strip_suffix(name).map(str::to_owned)
    };
    files.iter().filter_map(folder).collect()
}

/// Tells whether a module above this file declares it, or a module around it, for tests only.
fn is_test_module(path: &str, contents: &Contents<'_>, depth: usize) -> bool {
    if depth >= MODULE_DEPTH_LIMIT {
        return false;
    }
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let (folder, module) = match stem {
        "mod" => folder.rsplit_once('/').unwrap_or(("", folder)),
        "lib" | "main" => return false,
        _ => (folder, stem),
    };
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let mut parents = vec![join("lib.rs"), join("main.rs"), join("mod.rs")];
    if !folder.is_empty() {
        parents.push(format!("{folder}.rs"));
    }
    for parent in parents.iter().filter(|it| *it != path) {
        for side in [Side::Base, Side::Final] {
            let Some(text) = contents(side, parent).and_then(|it| String::from_utf8(it).ok()) else {
                continue;
            };
            let mut declared = rust_tests::test_module_files(&text).into_iter();
            if declared.any(|(name, file)| name == module || file.is_some_and(|it| join(&it) == path)) {
                return true;
            }
            if rust_tests::declares_module(&text, module) && is_test_module(parent, contents, depth + 1) {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests;
