//! Whether the tools that checks run with were changed while an agent, or code that it wrote, was running:
//! toolchains below HOME, the libraries of interpreters and of Go in PATH, and settings in the folders above the
//! tree, which tools read by themselves. A clean run has to use them, because they cannot be made afresh, so a plugin or a start-up file that came into them would take part. A file
//! counts by the time at which the kernel says that it was changed, which nobody but root can set, so
//! nothing has to be remembered from the opening. What changed between two calls is an update of the
//! system, and so is a file that this user cannot write: the agent has the same rights.

use crate::measure::proof::conditions::opening::OpeningConditions;
use crate::measure::proof::conditions::tool_homes::HOMES;
use crate::measure::proof::conditions::writable::may_write;
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::thread;

/// Ten Python versions with their packages have about 100,000 files.
const FILES_MOST: usize = 300_000;

/// Nothing is run from here, and a Rust toolchain has 50,000 pages of it, 99 of every 100 files.
const DOCUMENTS: [&str; 2] = ["share/doc", "share/man"];

/// Files that are named; one is enough to ask.
const NAMED_MOST: usize = 5;

/// The kernel stamps files with a clock that is read at every tick, up to 10 ms ago.
const TICK_MS: i64 = 10;

/// A walk of 65,000 files takes 270 ms of one processor, and a proof takes it before and after its steps.
const WALKERS_MOST: usize = 4;

/// Returns files of the tools that were written within these times, each from and to a moment in
/// milliseconds since 1970. What lies in one of the `trees` is theirs.
pub(crate) fn changed_within(
    opening: &OpeningConditions,
    times: Vec<(i64, i64)>,
    trees: [&Path; 2],
) -> Vec<String> {
    let in_tree = |it: &PathBuf| trees.iter().any(|tree| it.starts_with(tree));
    let (settings, packages) = above(trees);
    let folders = folders(opening, trees).into_iter().filter(|it| !in_tree(it)).chain(packages).collect();
    let walk = ToolWalk { times, user: geteuid().as_raw() };
    let go = prefixes(opening).into_iter().map(|it| it.join("go.env"));
    let mut found: Vec<String> = settings.into_iter().chain(go).filter_map(|it| walk.counts(&it)).collect();
    found.extend(walk.share(folders));
    // The walkers end in any order, and two looks at the same tools are compared.
    found.sort();
    found.truncate(NAMED_MOST);
    found
}

/// Files that tools look for in every folder above the one they work in, below HOME or not. A clean
/// checkout is seen at the path of the original tree, so it has the same folders above it.
const READ_FROM_ABOVE: [&str; 32] = [
    ".babelrc",
    ".cargo/config",
    ".cargo/config.toml",
    ".env",
    ".mocharc.json",
    ".mocharc.yml",
    ".node-version",
    ".nvmrc",
    ".pnp.cjs",
    ".pytest.ini",
    ".python-version",
    ".tool-versions",
    ".yarnrc.yml",
    "Cargo.toml",
    "babel.config.js",
    "babel.config.json",
    "conftest.py",
    "go.mod",
    "go.work",
    "jest.config.js",
    "mise.toml",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "pytest.ini",
    "pytest.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
    "vitest.config.js",
];

/// Where Node looks for packages, in every folder above.
const PACKAGES_ABOVE: &str = "node_modules";

/// Returns the settings that tools would read above these trees, and the folders of packages there.
fn above(trees: [&Path; 2]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let folders: BTreeSet<&Path> = trees.iter().flat_map(|it| it.ancestors().skip(1)).collect();
    let in_tree = |it: &Path| trees.iter().any(|tree| it.starts_with(tree));
    let folders: Vec<&Path> = folders.into_iter().filter(|it| !in_tree(it)).collect();
    let settings = folders.iter().flat_map(|it| READ_FROM_ABOVE.map(|name| it.join(name))).collect();
    let packages = folders.iter().map(|it| it.join(PACKAGES_ABOVE)).filter(|it| it.is_dir()).collect();
    (settings, packages)
}

fn folders(opening: &OpeningConditions, trees: [&Path; 2]) -> Vec<PathBuf> {
    let homes = HOMES
        .iter()
        .filter_map(|it| Some(opening.tool_home(it.variable, it.usual).join(it.programs?)))
        .filter(|it| it.is_dir());
    let mut found: Vec<PathBuf> = homes.collect();
    let uses_go = trees.iter().any(|it| has_go_module(it, GO_DEPTH_MOST));
    for prefix in prefixes(opening) {
        let is_go = uses_go && prefix.join("src/testing").is_dir();
        let go = is_go.then(|| GO_PARTS.map(|it| prefix.join(it)));
        for library in libraries(&prefix).into_iter().chain(go.into_iter().flatten()) {
            if library.is_dir() && !found.iter().any(|it| library.starts_with(it)) {
                found.push(library);
            }
        }
    }
    found
}

/// Interpreters and toolchains that bring a library of their own. A link to one leads to its prefix.
const WITH_LIBRARY: [&str; 5] = ["go", "node", "python", "python3", "ruby"];

/// Where the folders of PATH and these programs were installed.
fn prefixes(opening: &OpeningConditions) -> BTreeSet<PathBuf> {
    let above = |it: &Path| it.parent().map(Path::to_owned);
    let mut found = BTreeSet::new();
    for entry in &opening.path {
        found.extend(entry.folder.canonicalize().ok().and_then(|it| above(&it)));
        for name in WITH_LIBRARY {
            let program = entry.folder.join(name).canonicalize().ok();
            found.extend(program.and_then(|it| above(it.parent()?)));
        }
    }
    found
}

/// The library of Go, which every test program is compiled with, and its compiler. 10,000 files are looked
/// at only where the tree is written in Go.
const GO_PARTS: [&str; 2] = ["src", "pkg/tool"];

/// A module of Go lies at the top, or in a folder of a folder of a monorepo.
const GO_DEPTH_MOST: usize = 2;

fn has_go_module(folder: &Path, depth: usize) -> bool {
    if ["go.mod", "go.work"].iter().any(|it| folder.join(it).is_file()) {
        return true;
    }
    if depth == 0 {
        return false;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_own = |it: &fs::DirEntry| {
        let is_tools = [".git", "node_modules", "target"].iter().any(|name| it.file_name() == *name);
        !is_tools && it.file_type().is_ok_and(|it| it.is_dir())
    };
    entries.filter(is_own).any(|it| has_go_module(&it.path(), depth - 1))
}

/// What belongs to the interpreters of a prefix: their own library, and packages for everybody.
fn libraries(prefix: &Path) -> Vec<PathBuf> {
    let library = prefix.join("lib");
    let entries = fs::read_dir(&library).into_iter().flatten().flatten().map(|it| it.path());
    let is_interpreters = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ["python", "ruby"].iter().any(|it| name.starts_with(it))
    };
    entries.filter(is_interpreters).chain([library.join("node_modules")]).collect()
}

struct ToolWalk {
    times: Vec<(i64, i64)>,
    /// Who the agent is too; 0 may write everything.
    user: u32,
}

/// Folders that nobody has looked at yet, and how many walkers may still find more of them.
struct Unseen {
    folders: Vec<PathBuf>,
    at_work: usize,
    left: usize,
    found: Vec<String>,
}

impl ToolWalk {
    /// Looks at everything below these folders, on as many threads as there are processors.
    fn share(&self, folders: Vec<PathBuf>) -> Vec<String> {
        let walkers = thread::available_parallelism().map_or(1, usize::from).min(WALKERS_MOST);
        let unseen = Mutex::new(Unseen { folders, at_work: 0, left: FILES_MOST, found: Vec::new() });
        let more = Condvar::new();
        thread::scope(|scope| {
            (0..walkers).for_each(|_| drop(scope.spawn(|| self.walk(&unseen, &more))));
        });
        unseen.into_inner().expect("no walker panicked").found
    }

    fn walk(&self, unseen: &Mutex<Unseen>, more: &Condvar) {
        let mut held = unseen.lock().expect("no walker panicked");
        loop {
            let is_enough = held.left == 0 || NAMED_MOST <= held.found.len();
            match held.folders.pop().filter(|_| !is_enough) {
                Some(folder) => {
                    held.at_work += 1;
                    drop(held);
                    let (entries, folders, found) = self.look(&folder);
                    held = unseen.lock().expect("no walker panicked");
                    held.at_work -= 1;
                    held.left = held.left.saturating_sub(entries);
                    held.folders.extend(folders);
                    held.found.extend(found);
                    more.notify_all();
                }
                None if is_enough || held.at_work == 0 => return more.notify_all(),
                None => held = more.wait(held).expect("no walker panicked"),
            }
        }
    }

    /// Returns how many entries a folder has, the folders among them, and files that count.
    fn look(&self, folder: &Path) -> (usize, Vec<PathBuf>, Vec<String>) {
        let (mut entries, mut folders, mut found) = (0, Vec::new(), Vec::new());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            entries += 1;
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                let path = entry.path();
                let is_read_by_people = DOCUMENTS.iter().any(|it| path.ends_with(it));
                if name != "__pycache__" && !is_read_by_people {
                    folders.push(path);
                }
                continue;
            }
            // Compiled files of Python are neither read nor written by a clean run.
            if Path::new(&name).extension().is_some_and(|it| it == "pyc" || it == "pyo") {
                continue;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            if self.is_changed(&metadata) {
                found.push(entry.path().display().to_string());
            }
        }
        (entries, folders, found)
    }

    /// Returns the name of a file that counts.
    fn counts(&self, file: &Path) -> Option<String> {
        self.is_changed(&fs::symlink_metadata(file).ok()?).then(|| file.display().to_string())
    }

    fn is_changed(&self, metadata: &fs::Metadata) -> bool {
        may_write(self.user, metadata)
            && self.is_within(metadata.ctime() * 1000 + metadata.ctime_nsec() / 1_000_000)
    }

    fn is_within(&self, changed_ms: i64) -> bool {
        self.times.iter().any(|(from, to)| (from - TICK_MS..=*to).contains(&changed_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::proof::conditions::opening::PathEntry;
    use crate::measure::proof::conditions::path_programs::PathPrograms;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_library_of_an_interpreter_is_a_tool_and_that_of_go_where_the_tree_is_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in
            ["py/bin", "py/lib/python3.9/unittest", "go/bin", "go/src/testing", "go/pkg/tool", "tree/api"]
        {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        let path =
            ["py/bin", "go/bin"].map(|it| PathEntry { folder: at(it), programs: PathPrograms::default() });
        let opening = OpeningConditions {
            path: path.into(),
            variables: BTreeMap::new(),
            home: at("home"),
            settings: Vec::new(),
            folders: Vec::new(),
            configurations: BTreeMap::new(),
            refs: Vec::new(),
        };
        let tree = at("tree");
        let found = || folders(&opening, [&tree, &tree]);
        let python = at("py/lib/python3.9");
        assert_eq!(found(), std::slice::from_ref(&python));
        fs::write(tree.join("api/go.mod"), "module api\n").expect("a file");
        assert_eq!(found(), [at("go/src"), at("go/pkg/tool"), python]);
    }

    #[test]
    fn a_file_that_the_user_cannot_write_is_an_update_of_the_system() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, mode) in [("theirs", 0o644), ("everyones", 0o666)] {
            let path = folder.path().join(name);
            fs::write(&path, "").expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        }
        let owner = geteuid().as_raw();
        for (user, expected) in [(owner + 1, 1), (owner, 2), (0, 2)] {
            let times = vec![(0, i64::MAX)];
            let found = ToolWalk { times, user }.share(vec![folder.path().to_owned()]);
            assert_eq!(found.len(), expected, "{user}: {found:?}");
            assert!(found.iter().any(|it| it.ends_with("everyones")), "{user}");
        }
    }

    #[test]
    fn a_file_counts_that_changed_while_somebody_worked() {
        let walk = ToolWalk { times: vec![(100, 200), (500, 600)], user: 0 };
        let counts: Vec<i64> =
            [50, 95, 150, 300, 500, 601].into_iter().filter(|it| walk.is_within(*it)).collect();
        assert_eq!(counts, [95, 150, 500]);
    }
}
