//! Finds the checks of a project by looking at its root: which command builds it, tests it, lints
//! it and checks its types. Only what the project itself configures is offered, so that a check
//! that was found can be expected to work; a file that cannot be read or understood brings
//! nothing. Packages below the root are not looked at: the root of a monorepo says how to check all
//! of it, or a person does. Nothing is run here.

mod node;
mod proposal;
mod python;
#[cfg(test)]
mod tests;

use loop_core::proof::CountFormat;
pub(crate) use proposal::{CHECK_HELP, proposed_answer, proposed_flag};

use loop_core::workflow::model::TESTS_CHECK;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A larger file is not read: project files are written by people, and lock files, which are not,
/// are only looked at for their name.
const FILE_LIMIT: u64 = 1024 * 1024;

/// A check that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DetectedCheck {
    /// `build`, `tests`, `lint` or `types`; each at most once.
    pub(crate) name: &'static str,
    /// The command, for `sh -c` in the root.
    pub(crate) run: String,
    /// How the numbers of tests are read from its output.
    pub(crate) counts: Option<CountFormat>,
    /// The file, or the part of it, that the command comes from.
    pub(crate) why: String,
}

/// Returns the checks of the project in a folder, in the order in which they are best run. Where
/// two languages offer the same check, the one whose project file says more about the whole counts:
/// a package.json beside a Cargo.toml often only holds tools.
pub(crate) fn detect(dir: &Path) -> Vec<DetectedCheck> {
    detect_with(&Root { dir: dir.to_owned() }, is_installed)
}

fn detect_with(root: &Root, is_installed: fn(&str) -> bool) -> Vec<DetectedCheck> {
    let languages = [rust(root, is_installed), go(root), python::find(root), node::find(root), make(root)];
    let offered: Vec<DetectedCheck> = languages.into_iter().flatten().collect();
    let first_of = |name: &str| offered.iter().find(|it| it.name == name).cloned();
    ["build", "tests", "lint", "types"].into_iter().filter_map(first_of).collect()
}

fn rust(root: &Root, is_installed: fn(&str) -> bool) -> Vec<DetectedCheck> {
    let Some(manifest) = root.toml("Cargo.toml") else { return Vec::new() };
    let whole = if manifest.contains_key("workspace") { " --workspace" } else { "" };
    let why = "Cargo.toml";
    let mut found = vec![
        check("build", format!("cargo build{whole}"), why),
        // Without it the tests of all targets after the first failing one would go uncounted.
        tests(format!("cargo test{whole} --no-fail-fast"), CountFormat::Cargo, why),
    ];
    if is_installed("cargo-clippy") {
        found.push(check("lint", format!("cargo clippy{whole} --all-targets -- -D warnings"), why));
    }
    found
}

fn go(root: &Root) -> Vec<DetectedCheck> {
    let Some(module) = root.text("go.mod") else { return Vec::new() };
    if !module.lines().any(|it| it.trim_start().starts_with("module ")) {
        return Vec::new();
    }
    vec![
        check("build", "go build ./...".to_owned(), "go.mod"),
        // Only with -v does go say which tests passed.
        tests("go test -v ./...".to_owned(), CountFormat::Go, "go.mod"),
        check("lint", "go vet ./...".to_owned(), "go.mod"),
    ]
}

fn make(root: &Root) -> Vec<DetectedCheck> {
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let Some((file, text)) = names.iter().find_map(|it| Some((*it, root.text(it)?))) else {
        return Vec::new();
    };
    let targets: Vec<&str> = text.lines().filter_map(make_targets).flatten().collect();
    let wanted: [(&'static str, &[&str]); 4] = [
        ("build", &["build"]),
        ("tests", &["test", "check"]),
        ("lint", &["lint"]),
        ("types", &["typecheck", "types"]),
    ];
    let find = |(name, candidates): (&'static str, &[&str])| {
        let target = candidates.iter().find(|it| targets.contains(it))?;
        let why = format!("{file}, target {target}");
        let counts = (name == TESTS_CHECK).then_some(CountFormat::Auto);
        Some(DetectedCheck { name, run: format!("make {target}"), counts, why })
    };
    wanted.into_iter().filter_map(find).collect()
}

/// Returns the targets of a rule, `a b: c`; an assignment is none.
fn make_targets(line: &str) -> Option<impl Iterator<Item = &str>> {
    let (targets, rest) = line.split_once(':')?;
    let is_rule = !line.starts_with(['\t', ' ', '#', '.'])
        && !targets.contains(['=', '$', '#'])
        && !rest.trim_start_matches(':').starts_with('=');
    is_rule.then(|| targets.split_whitespace())
}

fn check(name: &'static str, run: String, why: &str) -> DetectedCheck {
    DetectedCheck { name, run, counts: None, why: why.to_owned() }
}

fn tests(run: String, counts: CountFormat, why: &str) -> DetectedCheck {
    DetectedCheck { name: "tests", run, counts: Some(counts), why: why.to_owned() }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(program).is_file())
}

/// The root of a project, whose files are read with a bound.
struct Root {
    dir: PathBuf,
}

impl Root {
    fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }

    /// Returns the text of a regular file within the limit; bytes that are no UTF-8 are replaced.
    fn text(&self, name: &str) -> Option<String> {
        let path = self.dir.join(name);
        // Opening a pipe would wait for someone to write into it.
        path.metadata().ok().filter(|it| it.is_file())?;
        let mut bytes = Vec::new();
        std::fs::File::open(path).ok()?.take(FILE_LIMIT + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= FILE_LIMIT).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn toml(&self, name: &str) -> Option<toml::Table> {
        self.text(name)?.parse().ok()
    }

    /// Returns the sorted names in a folder, at most as many as given.
    fn names(&self, folder: &str, at_most: usize) -> Vec<String> {
        let Ok(entries) = self.dir.join(folder).read_dir() else { return Vec::new() };
        let names = entries.take(at_most).filter_map(|it| it.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}
