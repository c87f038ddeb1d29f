//! Which uncommitted changes count against a run: those that were not there when it began. What lay
//! around before is remembered by the first measurement, and what our own checks leave behind is
//! remembered as theirs, so that nobody blames the agent for it.

use crate::tree::changes::{self, Change, ChangeKind};
use crate::tree::git::{Git, GitError};
use crate::tree::git_status::{GitStatus, read_status};
use crate::tree::git_text::{is_object_id, listed_paths};
use crate::tree::tree_status::{TreeStatus, tops};
use crate::tree::working_tree::WorkingTree;
use loop_base::files;
use loop_core::engine::{Facts, State, Uncommitted};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What was uncommitted when the run began, after the id of the tree.
const BEFORE: &str = "uncommitted-before";

/// What appeared while checks ran.
const LEFT_BY_CHECKS: &str = "left-by-checks";

/// What the checks wrote before the first call, and of that what they write whenever they run.
const WRITTEN_AT_OPENING: &str = "written-at-opening";
const WRITTEN_EACH_TIME: &str = "written-each-time";

/// 200,000 paths of usual length.
const LIST_MOST: usize = 16 << 20;

/// Messages name this many paths or folders.
const NAMED: usize = 10;

/// Remembers what is uncommitted at the beginning.
pub(crate) fn remember_beginning(tree: &WorkingTree, status: &TreeStatus) -> Result<(), GitError> {
    write(tree, BEFORE, &status.tree, &status.uncommitted)
}

/// Remembers what is uncommitted after the checks and was not before.
pub(crate) fn remember_left(
    tree: &WorkingTree,
    before: &TreeStatus,
    after: &TreeStatus,
) -> Result<(), GitError> {
    let known = left_by_checks(tree);
    let fresh = after.uncommitted.difference(&before.uncommitted).cloned();
    let all: BTreeSet<PathBuf> = known.iter().cloned().chain(fresh).collect();
    if all == known { Ok(()) } else { write(tree, LEFT_BY_CHECKS, "", &all) }
}

/// Remembers which files of the tree the checks wrote before the first call.
pub(crate) fn remember_written(tree: &WorkingTree, written: &[Change]) -> Result<(), GitError> {
    write(tree, WRITTEN_AT_OPENING, "", &written.iter().map(|it| it.path.clone()).collect())
}

/// Remembers that the checks write these files whenever they run, as far as they did so before the first
/// call; returns the files that they did not write then.
pub(crate) fn remember_own_output(tree: &WorkingTree, moving: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    let at_opening = read_left(&tree.pinned.beside(WRITTEN_AT_OPENING));
    let (own, others): (Vec<PathBuf>, Vec<PathBuf>) =
        moving.iter().cloned().partition(|it| at_opening.contains(it));
    let known = own_output(tree);
    let all: BTreeSet<PathBuf> = known.iter().cloned().chain(own).collect();
    if all != known {
        write(tree, WRITTEN_EACH_TIME, "", &all)?;
    }
    Ok(others)
}

/// Files that the checks write whenever they run, and wrote before the first call.
pub(crate) fn own_output(tree: &WorkingTree) -> BTreeSet<PathBuf> {
    read_left(&tree.pinned.beside(WRITTEN_EACH_TIME))
}

/// Returns what is uncommitted and was not there when the run began: another path, or another content. What
/// the checks write whenever they run is theirs.
pub(crate) fn since_beginning(
    tree: &WorkingTree,
    status: &TreeStatus,
    state: &State,
    since_start: &[Change],
) -> Result<Vec<PathBuf>, GitError> {
    let Some(baseline) = &state.baseline else { return Ok(Vec::new()) };
    if status.is_clean() {
        return Ok(Vec::new());
    }
    // By their bytes: there may be a hundred thousand, and comparing paths part by part takes longer.
    let before = before(tree, &baseline.facts)?;
    let before: HashSet<&[u8]> = before.split(|it| *it == 0).collect();
    let changed: HashSet<&OsStr> = since_start.iter().map(|it| it.path.as_os_str()).collect();
    // A submodule changes as a whole.
    let modules: Vec<&Path> =
        since_start.iter().filter(|it| it.submodule).map(|it| it.path.as_path()).collect();
    let is_changed =
        |path: &Path| changed.contains(path.as_os_str()) || modules.iter().any(|it| path.starts_with(it));
    let counts = |it: &&PathBuf| !before.contains(it.as_os_str().as_bytes()) || is_changed(it);
    let own = own_output(tree);
    Ok(status.uncommitted.iter().filter(counts).filter(|it| !own.contains(*it)).cloned().collect())
}

/// Returns how many of these changes are not uncommitted output of the checks. A build folder that nobody
/// ignored changes with every build, and would count as progress in every iteration.
pub(crate) fn without_check_output(tree: &WorkingTree, status: &TreeStatus, changes: &[Change]) -> usize {
    let left = left_by_checks(tree);
    let is_output = |it: &Change| {
        left.contains(&it.path) && (it.kind == ChangeKind::Deleted || status.uncommitted.contains(&it.path))
    };
    changes.iter().filter(|it| !is_output(it)).count()
}

/// Returns what is uncommitted, and apart from it what these checks left.
pub(crate) fn groups(
    tree: &WorkingTree,
    status: &TreeStatus,
    uncommitted: &[PathBuf],
    checks: &[String],
) -> Vec<Uncommitted> {
    let left = left_by_checks(tree);
    let (filtered, known): (Vec<&PathBuf>, Vec<&PathBuf>) =
        uncommitted.iter().partition(|it| status.filtered.contains_key(*it));
    let (theirs, work): (Vec<&PathBuf>, Vec<&PathBuf>) = known.into_iter().partition(|it| left.contains(*it));
    let group = |paths: Vec<&PathBuf>, left_by: &[String], filter: Option<&String>| {
        let (paths, more) = tops(paths, NAMED);
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        Uncommitted { paths, more, left_by: left_by.to_vec(), filter: filter.cloned() }
    };
    let filters: BTreeSet<&String> = filtered.iter().map(|it| &status.filtered[*it]).collect();
    let through = filters.into_iter().map(|filter| {
        let paths = filtered.iter().filter(|it| status.filtered[**it] == *filter).copied();
        group(paths.collect(), &[], Some(filter))
    });
    let groups = [group(work, &[], None), group(theirs, checks, None)].into_iter().chain(through);
    groups.filter(|it| !it.paths.is_empty()).collect()
}

/// What the person's own `git status` lists at the end of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitStatusNow {
    /// Left by our checks.
    pub(crate) by_checks: BTreeSet<PathBuf>,
    /// Everything else.
    pub(crate) others: BTreeSet<PathBuf>,
}

/// Returns what `git status` lists in a working tree; `view` is the folder of the run's own view of it.
pub(crate) fn git_status_now(
    place: &Path,
    view: &Path,
    git_programs: Option<&[String]>,
) -> Result<GitStatusNow, GitError> {
    let git = Git::reopen(place)?.looking_with(git_programs);
    let asked = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=normal"];
    let GitStatus { changed, differing, untracked, .. } = read_status(&git.run(asked)?);
    let left = read_left(&view.join(LEFT_BY_CHECKS));
    // A folder that git knows nothing of is listed as one path.
    let is_left = |path: &PathBuf| left.iter().any(|it| it.starts_with(path));
    let listed = changed.into_iter().chain(differing).chain(untracked);
    let (by_checks, others) = listed.partition(is_left);
    Ok(GitStatusNow { by_checks, others })
}

/// Returns what was uncommitted when the run began and has been committed since: an agent that adds
/// everything takes a person's own files along, and files that the checks wrote before the first call.
/// Without a commit at the beginning every file was uncommitted, and committing them was part of the work.
pub(crate) fn committed_since(place: &Path, view: &Path, base: &str) -> Result<CommittedSince, GitError> {
    let (before, by_checks) = uncommitted_before(view);
    if before.is_empty() || !is_object_id(base) {
        return Ok(CommittedSince::default());
    }
    let asked = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, "HEAD"];
    let committed: BTreeSet<PathBuf> = listed_paths(&Git::reopen(place)?.run(asked)?).collect();
    let (by_checks, others) = before.intersection(&committed).cloned().partition(|it| by_checks.contains(it));
    Ok(CommittedSince { by_checks, others })
}

/// Files that were uncommitted when the run began and are in its commits.
#[derive(Default)]
pub(crate) struct CommittedSince {
    /// What the checks wrote before the first call.
    pub by_checks: BTreeSet<PathBuf>,
    /// A person's own.
    pub others: BTreeSet<PathBuf>,
}

/// Returns what was uncommitted when the run began, and what appeared while checks ran.
pub(crate) fn uncommitted_before(view: &Path) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let listing = files::bytes(&view.join(BEFORE), LIST_MOST).unwrap_or_default();
    // The id of the tree comes first.
    (listed_paths(&listing).skip(1).collect(), read_left(&view.join(LEFT_BY_CHECKS)))
}

/// What was uncommitted at the beginning, each path ended by a zero byte.
fn before(tree: &WorkingTree, base: &Facts) -> Result<Vec<u8>, GitError> {
    if base.tree.is_empty() {
        return Ok(Vec::new());
    }
    let listing = files::bytes(&tree.pinned.beside(BEFORE), LIST_MOST).unwrap_or_default();
    if listing.split(|it| *it == 0).next() == Some(base.tree.as_bytes()) {
        return Ok(listing);
    }
    // A run of an earlier version has no such list; its two trees tell most of it.
    if base.commit.is_empty() {
        return Ok(Vec::new());
    }
    let differing = changes::changes(&tree.pinned, &base.commit, &base.tree)?;
    Ok(differing.iter().flat_map(|it| [it.path.as_os_str().as_bytes(), b"\0"].concat()).collect())
}

/// Returns what appeared while checks ran.
pub(crate) fn left_by_checks(tree: &WorkingTree) -> BTreeSet<PathBuf> {
    read_left(&tree.pinned.beside(LEFT_BY_CHECKS))
}

fn read_left(file: &Path) -> BTreeSet<PathBuf> {
    listed_paths(&files::bytes(file, LIST_MOST).unwrap_or_default()).collect()
}

fn write(tree: &WorkingTree, name: &str, head: &str, paths: &BTreeSet<PathBuf>) -> Result<(), GitError> {
    let mut text = head.as_bytes().to_vec();
    for path in paths {
        text.push(0);
        text.extend_from_slice(path.as_os_str().as_bytes());
    }
    tree.pinned.note(name, &text)
}
