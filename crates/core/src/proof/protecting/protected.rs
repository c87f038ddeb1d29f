//! Which files the baseline protects: tests, control files (what runs and how), and mixed files, of
//! which a part is protected. Decided by path, by the globs of `[proof] protect`, by the scripts that
//! check commands name, and for Rust by `#[cfg(test)] mod x;`. Names are compared without regard to
//! case, except where only capitals tell a test from a word (`CartTest.java`, `Latest.java`).

use crate::proof::protecting::foreign_modules::ForeignModules;
use crate::proof::protecting::test_packages;
use crate::proof::rust_tests;
use crate::proof::trees::{Contents, Side};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    Test,
    /// Decides what runs and how: Makefile, conftest, configuration of a runner, CI.
    Control,
    /// Protected in part.
    Mixed(Mixed),
    Ordinary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mixed {
    PackageJson,
    Pyproject,
    CargoToml,
    SetupCfg,
    /// A Rust source file, which may carry `#[cfg(test)]` items.
    RustSource,
    CargoLock,
    /// package-lock.json, yarn.lock, pnpm-lock.yaml.
    NodeLock,
    GoMod,
    GoSum,
    /// requirements.txt and its relatives.
    Requirements,
    TsConfig,
}

/// What is protected in one run.
#[derive(Clone, Debug)]
pub struct ProtectedFiles {
    protect: GlobSet,
    /// Files that check commands start, directly or through a Makefile or a package script.
    scripts: BTreeSet<String>,
    foreign: ForeignModules,
    /// Packages that only tests use.
    test_packages: Vec<String>,
    /// Folders that a package manager filled and git tracks.
    vendored: Vec<String>,
}

/// Files whose commands are searched for scripts; a monorepo has one of each in every package.
const COMMAND_FILES_LIMIT: usize = 200;

/// Modules above a Rust file that are asked whether they declare it for tests only.
const MODULE_DEPTH_LIMIT: usize = 8;

const LINK_MODE: u32 = 0o120000;
const SUBMODULE_MODE: u32 = 0o160000;

const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "__mocks__",
    "__fixtures__",
    "__snapshots__",
    "snapshots",
    "testdata",
    "test-data",
    "test_data",
    "testutil",
    "testutils",
    "test-utils",
    "test_utils",
    "testhelpers",
    "test-helpers",
    "test_helpers",
    "testsupport",
    "test-support",
    "test_support",
    "e2e",
];

const CONTROL_FOLDERS: &[&str] =
    &[".cargo", ".github", ".circleci", ".buildkite", ".loop", ".husky", ".yarn", "node_modules"];

const CONTROL_NAMES: &[&str] = &[
    "makefile",
    "gnumakefile",
    "bsdmakefile",
    "justfile",
    ".justfile",
    "taskfile.yml",
    "taskfile.yaml",
    "rakefile",
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "noxfile.py",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    // A module of the runner's name in the tree would be imported in its place.
    "pytest.py",
    "unittest.py",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "pnpm-workspace.yaml",
    "turbo.json",
    "nx.json",
    ".babelrc",
    ".swcrc",
    "go.work",
    "pip.conf",
    ".nycrc",
    ".c8rc",
    ".taprc",
    ".rspec",
    "phpunit.xml",
    "phpunit.xml.dist",
    "nextest.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "clippy.toml",
    ".clippy.toml",
    ".python-version",
    ".nvmrc",
    ".node-version",
    ".tool-versions",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
];

/// Names up to the first dot behind them: `jest.config.ts`, `.mocharc.yml`.
const CONTROL_STEMS: &[&str] = &[
    "jest.config.",
    "jest.setup.",
    "jest-setup.",
    "setupTests.",
    "vitest.config.",
    "vitest.workspace.",
    "vitest.setup.",
    "vite.config.",
    ".mocharc.",
    ".nycrc.",
    ".c8rc.",
    "ava.config.",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    "eslint.config.",
    ".eslintrc.",
    "babel.config.",
    ".babelrc.",
];

impl ProtectedFiles {
    /// `protect` are the globs of `[proof] protect`; `commands` the commands of the checks, whose
    /// scripts are control files; `base_files` the paths of the baseline. Returns the glob that
    /// cannot be read.
    pub fn new(
        protect: &[String],
        commands: &[String],
        base_files: &[String],
        contents: &Contents<'_>,
    ) -> Result<ProtectedFiles, String> {
        let mut globs = GlobSetBuilder::new();
        for pattern in protect {
            globs.add(glob(pattern).map_err(|error| format!("{pattern}: {error}"))?);
        }
        let protect = globs.build().map_err(|error| error.to_string())?;
        let scripts = named_scripts(commands, base_files, contents);
        let tests: Vec<&String> = base_files.iter().filter(|it| is_test_path(it)).collect();
        let foreign = ForeignModules::read(base_files, &tests, contents);
        let test_packages = test_packages::folders(base_files, contents);
        Ok(ProtectedFiles {
            protect,
            scripts,
            foreign,
            test_packages,
            vendored: vendored_folders(base_files),
        })
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

    /// A file of a package that lies in the tree is not the project's own text. One that was added is:
    /// no original test can use a package that was not there.
    fn is_vendored(&self, path: &str, contents: &Contents<'_>) -> bool {
        let inside = self.vendored.iter().any(|it| path.starts_with(it.as_str()));
        inside && !path.ends_with("/modules.txt") && contents(Side::Base, path).is_some()
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
        if folders.clone().any(|it| CONTROL_FOLDERS.contains(&it)) {
            return Class::Control;
        }
        if is_control_name(name) || self.scripts.contains(path) || self.is_vendored(path, contents) {
            return Class::Control;
        }
        if self.hides_a_module(path, contents) {
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

/// Whether a file holds tests, by its folder or its name alone.
pub fn is_test_path(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_lowercase();
    folder.split('/').any(is_test_folder) || is_test_name(path)
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

fn is_test_folder(name: &str) -> bool {
    let ends = [".tests", ".test", "-tests", "_tests", "-test", "_test"];
    TEST_FOLDERS.contains(&name) || ends.iter().any(|it| name.ends_with(it))
}

fn is_control_name(name: &str) -> bool {
    CONTROL_NAMES.contains(&name)
        || CONTROL_STEMS.iter().any(|it| name.starts_with(&it.to_lowercase()))
        || name.ends_with(".mk")
        || name.ends_with(".mak")
}

fn is_test_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_lowercase();
    let Some((stem, extension)) = lower.split_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return false;
    };
    let last = extension.rsplit('.').next().unwrap_or(extension);
    if matches!(last, "md" | "txt" | "rst" | "toml" | "json" | "yml" | "yaml") {
        return false;
    }
    if matches!(last, "snap" | "bats" | "feature" | "t") {
        return true;
    }
    let inner =
        extension.split('.').rev().skip(1).any(|it| matches!(it, "test" | "tests" | "spec" | "specs"));
    let by_stem = matches!(stem, "test" | "tests" | "spec")
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "-test", "-spec"].iter().any(|it| stem.ends_with(it));
    inner || by_stem || is_camel_test(name, last)
}

/// `CartTest.java`, `CartTests.cs`, `CartIT.java`, `TestCart.java`, but not `Latest.java`.
fn is_camel_test(name: &str, extension: &str) -> bool {
    if !matches!(extension, "java" | "kt" | "kts" | "scala" | "groovy" | "cs" | "swift" | "php" | "m" | "mm")
    {
        return false;
    }
    let stem = name.split('.').next().unwrap_or(name);
    let begins = stem.strip_prefix("Test").and_then(|it| it.chars().next()).is_some_and(char::is_uppercase);
    begins || ["Test", "Tests", "TestCase", "Spec", "IT"].iter().any(|it| stem.ends_with(it))
}

/// The kind of a mixed file, by its name alone.
pub(crate) fn mixed_path(path: &str) -> Option<Mixed> {
    mixed(&path.rsplit('/').next().unwrap_or(path).to_lowercase())
}

fn mixed(name: &str) -> Option<Mixed> {
    match name {
        "package.json" => Some(Mixed::PackageJson),
        "pyproject.toml" => Some(Mixed::Pyproject),
        "cargo.toml" => Some(Mixed::CargoToml),
        "setup.cfg" => Some(Mixed::SetupCfg),
        "cargo.lock" => Some(Mixed::CargoLock),
        "package-lock.json" | "npm-shrinkwrap.json" | "yarn.lock" | "pnpm-lock.yaml" => Some(Mixed::NodeLock),
        "go.mod" => Some(Mixed::GoMod),
        "go.sum" => Some(Mixed::GoSum),
        _ if name.ends_with(".txt") && (name.contains("requirements") || name.contains("constraints")) => {
            Some(Mixed::Requirements)
        }
        _ if name.starts_with("tsconfig") && name.ends_with(".json") => Some(Mixed::TsConfig),
        _ if name.ends_with(".rs") => Some(Mixed::RustSource),
        _ => None,
    }
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

fn named_scripts(commands: &[String], base_files: &[String], contents: &Contents<'_>) -> BTreeSet<String> {
    let files: BTreeSet<&str> = base_files.iter().map(String::as_str).collect();
    let mut found: BTreeSet<String> = BTreeSet::new();
    for command in commands {
        found.extend(scripts_in(command, "", &files, contents));
    }
    let has_commands = |it: &&String| {
        let name = it.rsplit('/').next().unwrap_or(it).to_lowercase();
        matches!(name.as_str(), "package.json" | "makefile" | "gnumakefile" | "justfile")
    };
    for path in base_files.iter().filter(has_commands).take(COMMAND_FILES_LIMIT) {
        let Some(text) = contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok()) else {
            continue;
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for line in text.lines() {
            found.extend(scripts_in(line, folder, &files, contents));
        }
    }
    found
}

/// Returns the files that a command line names and that look like scripts rather than like the
/// source under test: shell scripts, and files whose name or folder says what they are for.
fn scripts_in(command: &str, folder: &str, files: &BTreeSet<&str>, contents: &Contents<'_>) -> Vec<String> {
    let separators = |it: char| it.is_whitespace() || "\"'`;|&()<>=,@".contains(it);
    let words = || command.split(separators).filter(|it| !it.is_empty());
    let before = std::iter::once("").chain(words());
    let mut found = Vec::new();
    for (before, word) in before.zip(words()) {
        let path = word.trim_start_matches("./");
        let in_folder = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let started =
            word.starts_with("./") || matches!(before, "sh" | "bash" | "dash" | "zsh" | "source" | ".");
        let at = word.as_ptr() as usize - command.as_ptr() as usize;
        let is_compared = is_substituted(&command[..at]);
        found.extend([path.to_owned(), in_folder].into_iter().filter(|it| {
            files.contains(it.as_str())
                && looks_like_script(it, is_compared, &|| started || begins_as_script(it, contents))
        }));
    }
    found
}

/// Whether what follows is a command whose output is taken, as in `[ "$(./add.sh 2 3)" = 5 ]`.
fn is_substituted(before: &str) -> bool {
    before.matches('`').count() % 2 == 1 || before.matches("$(").count() > before.matches(')').count()
}

/// Whether a file names the program that reads it.
fn begins_as_script(path: &str, contents: &Contents<'_>) -> bool {
    contents(Side::Base, path).is_some_and(|it| it.starts_with(b"#!"))
}

/// Without an extension a name says nothing: such a file is data, unless it is started. A shell script
/// whose output is compared is what the line tests, unless its name says that it tests something.
fn looks_like_script(path: &str, is_compared: bool, is_started: &dyn Fn() -> bool) -> bool {
    let lower = path.to_lowercase();
    let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    if mixed(name).is_some_and(|it| it != Mixed::RustSource) {
        return false;
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let folders = ["scripts", "script", "bin", "ci", "tools", "hack", "dev"];
    let words = ["test", "check", "lint", "verify", "ci", "run", "build", "suite", "spec", "all"];
    // A program written in shell is a source like any other.
    let sources = ["src", "lib", "app", "source", "cmd", "pkg", "internal"];
    let is_source = folder.split('/').any(|it| sources.contains(&it));
    (!is_source && !is_compared && matches!(extension, "sh" | "bash" | "zsh" | "mk"))
        || folder.split('/').any(|it| folders.contains(&it))
        || stem
            .split(['_', '-', '.'])
            .any(|it| words.iter().any(|word| it == *word || it == format!("{word}s")))
        || (extension.is_empty() && !is_compared && is_started())
}

#[cfg(test)]
mod tests;
