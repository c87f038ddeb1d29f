//! Whether the tools that checks run with were changed while an agent, or code that it wrote, was running:
//! toolchains below HOME, and the libraries of interpreters in PATH. A clean run has to use them, because
//! they cannot be made afresh, so a plugin or a start-up file that came into them would take part. A file
//! counts by the time at which the kernel says that it was changed, which nobody but root can set, so
//! nothing has to be remembered from the opening. What changed between two calls is an update of the
//! system, and so is a file that this user cannot write: the agent has the same rights.

use crate::measure::proof::conditions::opening::OpeningConditions;
use crate::measure::proof::conditions::tool_homes::HOMES;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Ten Python versions with their packages have about 100,000 files.
const FILES_MOST: usize = 300_000;

/// Nothing is run from here, and a Rust toolchain has 50,000 pages of it, 99 of every 100 files.
const DOCUMENTS: [&str; 2] = ["share/doc", "share/man"];

/// Files that are named; one is enough to ask.
const NAMED_MOST: usize = 5;

/// The kernel stamps files with a clock that is read at every tick, up to 10 ms ago.
const TICK_MS: i64 = 10;

/// Returns files of the tools that were written within these times, each from and to a moment in
/// milliseconds since 1970. What lies in one of the `trees` is theirs.
pub(crate) fn changed_within(
    opening: &OpeningConditions,
    times: Vec<(i64, i64)>,
    trees: [&Path; 2],
) -> Vec<String> {
    let user = geteuid().as_raw();
    let mut walk = ToolWalk { times, user, left: FILES_MOST, found: Vec::new() };
    for folder in folders(opening).iter().filter(|it| !trees.iter().any(|tree| it.starts_with(tree))) {
        walk.look(folder);
    }
    walk.found
}

fn folders(opening: &OpeningConditions) -> Vec<PathBuf> {
    let homes = HOMES
        .iter()
        .filter_map(|it| Some(opening.tool_home(it.variable, it.usual).join(it.programs?)))
        .filter(|it| it.is_dir());
    let mut found: Vec<PathBuf> = homes.collect();
    for prefix in
        opening.path.iter().filter_map(|it| it.folder.canonicalize().ok()?.parent().map(Path::to_owned))
    {
        for library in libraries(&prefix) {
            if !found.iter().any(|it| library.starts_with(it)) {
                found.push(library);
            }
        }
    }
    found
}

/// Where Python and Node look for packages that belong to the interpreter.
fn libraries(prefix: &Path) -> Vec<PathBuf> {
    let library = prefix.join("lib");
    let entries = fs::read_dir(&library).into_iter().flatten().flatten().map(|it| it.path());
    let is_python =
        |it: &PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with("python"));
    let python =
        entries.filter(is_python).flat_map(|it| ["site-packages", "dist-packages"].map(|name| it.join(name)));
    python.chain([library.join("node_modules")]).filter(|it| it.is_dir()).collect()
}

struct ToolWalk {
    times: Vec<(i64, i64)>,
    /// Who the agent is too; 0 may write everything.
    user: u32,
    left: usize,
    found: Vec<String>,
}

impl ToolWalk {
    fn look(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.left == 0 || NAMED_MOST <= self.found.len() {
                return;
            }
            self.left -= 1;
            let Ok(metadata) = entry.metadata() else { continue };
            let path = entry.path();
            // Compiled files of Python are neither read nor written by a clean run.
            let is_compiled = path.extension().is_some_and(|it| it == "pyc" || it == "pyo");
            if metadata.is_dir() {
                let is_read_by_people = DOCUMENTS.iter().any(|it| path.ends_with(it));
                if entry.file_name() != "__pycache__" && !is_read_by_people {
                    self.look(&path);
                }
            } else if !is_compiled
                && self.may_write(&metadata)
                && self.is_within(metadata.ctime() * 1000 + metadata.ctime_nsec() / 1_000_000)
            {
                self.found.push(path.display().to_string());
            }
        }
    }

    fn is_within(&self, changed_ms: i64) -> bool {
        self.times.iter().any(|(from, to)| (from - TICK_MS..=*to).contains(&changed_ms))
    }

    /// Whether the agent could have written this. Whoever puts a file of their own in its place owns
    /// that one.
    fn may_write(&self, metadata: &fs::Metadata) -> bool {
        const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
        self.user == 0
            || metadata.uid() == self.user
            || (!metadata.is_symlink() && metadata.mode() & GROUP_OR_OTHERS_WRITE != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

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
            let mut walk = ToolWalk { times, user, left: FILES_MOST, found: Vec::new() };
            walk.look(folder.path());
            assert_eq!(walk.found.len(), expected, "{user}: {:?}", walk.found);
            assert!(walk.found.iter().any(|it| it.ends_with("everyones")), "{user}");
        }
    }

    #[test]
    fn a_file_counts_that_changed_while_somebody_worked() {
        let walk = ToolWalk { times: vec![(100, 200), (500, 600)], user: 0, left: 1, found: Vec::new() };
        let counts: Vec<i64> =
            [50, 95, 150, 300, 500, 601].into_iter().filter(|it| walk.is_within(*it)).collect();
        assert_eq!(counts, [95, 150, 500]);
    }
}
