//! What lies between two trees: which files, how many commits, which added lines, and the facts that
//! conditions ask for. The comparing is git's; everything that judges the result is pure.

use crate::tree::repository::commit_name::commit_of;
use crate::tree::repository::git::{Git, GitError};
use crate::tree::repository::git_text::{bytes_to_path, is_object_id, single_line};
use crate::tree::repository::pinned::Pinned;
use loop_core::digest::sha256;
use loop_core::engine::FileCounts;
use regex_lite::Regex;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) kind: ChangeKind,
    /// The path names a commit of another repository.
    pub(crate) submodule: bool,
    /// Only the mode differs.
    pub(crate) mode_only: bool,
}

/// Counts the paths by how they differ.
pub(crate) fn counts(changes: &[Change]) -> FileCounts {
    let mut counts = FileCounts::default();
    for change in changes {
        match change.kind {
            ChangeKind::Added => counts.created += 1,
            ChangeKind::Modified => counts.modified += 1,
            ChangeKind::Deleted => counts.deleted += 1,
        }
    }
    counts
}

/// The paths that differ between two trees; a rename is a deletion and an addition.
pub(crate) fn changes(pinned: &Pinned, from_tree: &str, to_tree: &str) -> Result<Vec<Change>, GitError> {
    if from_tree == to_tree {
        return Ok(Vec::new());
    }
    let (from, to) = (checked(from_tree), checked(to_tree));
    let output =
        pinned.without_index().run(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to, "--"])?;
    Ok(read_changes(&output))
}

/// How many commits `to` has that `from` has not; from none, all of them.
pub(crate) fn commits_between(
    pinned: &Pinned,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<u64, GitError> {
    let Some(to) = to.filter(|it| Some(*it) != from) else { return Ok(0) };
    let range = from.map_or(checked(to).to_owned(), |from| format!("{}..{}", checked(from), checked(to)));
    let output = pinned.repository.run(["rev-list", "--count", &range, "--"])?;
    Ok(single_line(&output).parse().expect("git counts in digits"))
}

/// Commits of one iteration that are looked at; whoever makes more has done work in one of these.
const COMMITS_MOST: usize = 50;

/// The commits that `to` has and `from` has not, newest first, each with the paths that it touches.
pub(crate) fn commits_with_paths(
    pinned: &Pinned,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<Vec<(String, Vec<PathBuf>)>, GitError> {
    let Some(to) = to.filter(|it| Some(*it) != from) else { return Ok(Vec::new()) };
    let range = from.map_or(checked(to).to_owned(), |from| format!("{}..{}", checked(from), checked(to)));
    let most = format!("--max-count={COMMITS_MOST}");
    let output = pinned.repository.run(["rev-list", &most, &range, "--"])?;
    let names = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect::<Vec<_>>();
    names.into_iter().map(|it| paths_of(pinned, &it).map(|paths| (it, paths))).collect()
}

/// The paths that a commit touches.
pub(crate) fn paths_of(pinned: &Pinned, commit: &str) -> Result<Vec<PathBuf>, GitError> {
    let options = ["diff-tree", "-r", "-z", "--name-only", "--no-commit-id", "--root", "-m"];
    let output = pinned.repository.run(options.into_iter().chain([checked(commit), "--"]))?;
    Ok(output.split(|it| *it == 0).filter(|it| !it.is_empty()).map(bytes_to_path).collect())
}

/// The first parent of a commit; none of the first commit.
pub(crate) fn parent(pinned: &Pinned, commit: &str) -> Result<Option<String>, GitError> {
    commit_of(&pinned.repository, &format!("{}^", checked(commit)))
}

/// Whether a commit is part of the history of another.
pub(crate) fn is_ancestor(git: &Git, commit: &str, of: &str) -> Result<bool, GitError> {
    if commit.is_empty() || of.is_empty() {
        return Ok(false);
    }
    if commit == of {
        return Ok(true);
    }
    match git.run(["merge-base", "--is-ancestor", commit, of]) {
        Ok(_) => Ok(true),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the SHA-256 of what changed in those of the files that have a line in `to_tree` which they have not in
/// `from_tree` and which matches; without a pattern, of all of them. `None` if there is no such file. Attributes that
/// declare files binary are not believed.
pub(crate) fn digest_of_changes(
    pinned: &Pinned,
    from_tree: &str,
    to_tree: &str,
    paths: &[&Path],
    pattern: Option<&Regex>,
) -> Result<Option<String>, GitError> {
    let mut found = String::new();
    if from_tree != to_tree {
        for some in paths.chunks(PATHS_AT_ONCE) {
            found.push_str(&matching_files(pinned, from_tree, to_tree, some, pattern)?);
        }
    }
    Ok((!found.is_empty()).then(|| sha256(&found)))
}

/// Paths on one command line; each may have 4096 bytes, and a command line takes two megabytes.
const PATHS_AT_ONCE: usize = 400;

/// Returns a few lines for each file that matches: its path, its modes and what it holds in both trees.
fn matching_files(
    pinned: &Pinned,
    from_tree: &str,
    to_tree: &str,
    paths: &[&Path],
    pattern: Option<&Regex>,
) -> Result<String, GitError> {
    let options = ["diff-tree", "-r", "-p", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv"];
    let trees = ["--full-index", "--no-renames", checked(from_tree), checked(to_tree), "--"];
    let words = options.into_iter().chain(trees).map(std::ffi::OsStr::new);
    let output = pinned.without_index().run(words.chain(paths.iter().map(|it| it.as_os_str())))?;
    let is_match = |line: &[u8]| pattern.is_none_or(|it| it.is_match(&String::from_utf8_lossy(line)));
    let mut found = String::new();
    for file in files_of(&output) {
        if pattern.is_none() || added_lines(file).any(is_match) {
            let header = file.split(|it| *it == b'\n').take_while(|it| !it.starts_with(b"@@ "));
            header.for_each(|it| found.extend([&*String::from_utf8_lossy(it), "\n"]));
        }
    }
    Ok(found)
}

/// The parts of a diff that are about one file each. No line of a hunk begins like their first line.
fn files_of(diff: &[u8]) -> Vec<&[u8]> {
    const FIRST: &[u8] = b"diff --git ";
    let is_first = |at: &usize| diff[*at..].starts_with(FIRST) && (*at == 0 || diff[*at - 1] == b'\n');
    let mut starts: Vec<usize> =
        diff.iter().enumerate().filter(|it| *it.1 == b'd').map(|it| it.0).filter(is_first).collect();
    starts.push(diff.len());
    starts.windows(2).map(|it| &diff[it[0]..it[1]]).collect()
}

/// The Markdown files added or changed under docs/ or at the root.
pub(crate) fn documents(changes: &[Change]) -> Vec<&Change> {
    changes.iter().filter(|it| it.kind != ChangeKind::Deleted && is_document(&it.path)).collect()
}

/// Says whether one of the documents is a decision record: it lies in a folder for them, or is named
/// as one.
pub(crate) fn has_decision_record(changes: &[Change]) -> bool {
    documents(changes).iter().any(|it| is_decision_record(&it.path))
}

pub(crate) fn checked(id: &str) -> &str {
    assert!(is_object_id(id), "object ids come from git: {id:?}");
    id
}

/// Reads `diff-tree --raw -z`: a header, then the path, each ended by a zero byte.
fn read_changes(output: &[u8]) -> Vec<Change> {
    let fields: Vec<&[u8]> = output.split(|it| *it == 0).collect();
    fields.chunks_exact(2).filter_map(|it| read_change(it[0], it[1])).collect()
}

fn read_change(header: &[u8], path: &[u8]) -> Option<Change> {
    let words: Vec<&[u8]> = header.strip_prefix(b":")?.split(|it| *it == b' ').collect();
    let [old_mode, new_mode, old, new, letter] = words.as_slice() else { return None };
    let kind = match letter.first()? {
        b'A' => ChangeKind::Added,
        b'D' => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let submodule = [old_mode, new_mode].iter().any(|it| **it == b"160000");
    Some(Change { path: bytes_to_path(path), kind, submodule, mode_only: old == new })
}

/// The added lines of a diff without context. Hunks are measured by their headers, because an added
/// line may itself look like a header.
fn added_lines(diff: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut removed_left, mut added_left) = (0_usize, 0_usize);
    diff.split(|it| *it == b'\n').filter_map(move |line| match line.first() {
        Some(b'-') if removed_left > 0 => {
            removed_left -= 1;
            None
        }
        Some(b'+') if added_left > 0 => {
            added_left -= 1;
            Some(&line[1..])
        }
        Some(b'@') if removed_left == 0 && added_left == 0 => {
            (removed_left, added_left) = hunk_lengths(line).unwrap_or_default();
            None
        }
        Some(_) | None => None,
    })
}

/// Reads `@@ -12,3 +12 @@`: how many lines go and how many come.
fn hunk_lengths(line: &[u8]) -> Option<(usize, usize)> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut length = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok())
    };
    Some((length('-')?, length('+')?))
}

pub(crate) fn is_document(path: &Path) -> bool {
    let markdown = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("md") || it.eq_ignore_ascii_case("markdown"));
    let at_root = path.parent().is_some_and(|it| it.as_os_str().is_empty());
    markdown && (at_root || path.starts_with("docs"))
}

fn is_decision_record(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new("")).to_string_lossy().to_ascii_lowercase();
    let in_folder = folder.split('/').any(|it| matches!(it, "adr" | "adrs" | "decisions"));
    let name = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let says_so = |word: &str| {
        let word = word.trim_end_matches(|it: char| it.is_ascii_digit());
        matches!(word, "adr" | "decision" | "decisions")
    };
    in_folder || name.split(|it: char| !it.is_ascii_alphanumeric()).any(says_so)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample::Sample;

    fn change(path: &str, kind: ChangeKind) -> Change {
        Change { path: path.into(), kind, submodule: false, mode_only: false }
    }

    #[test]
    fn names_what_differs_between_two_looks() {
        let sample = Sample::committed();
        sample.write("gone", b"x");
        sample.write("bits", b"x");
        sample.commit("more");
        let mut tree = sample.tree();
        let from = tree.status().unwrap();
        std::fs::remove_file(sample.path("gone")).unwrap();
        sample.write("a.txt", b"b\n");
        sample.write("odd \"name\n", b"x");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(sample.path("bits"), mode).unwrap();
        let to = tree.status().unwrap();
        let expected = [
            change("a.txt", ChangeKind::Modified),
            Change { mode_only: true, ..change("bits", ChangeKind::Modified) },
            change("gone", ChangeKind::Deleted),
            change("odd \"name\n", ChangeKind::Added),
        ];
        assert_eq!(changes(&tree.pinned, &from.tree, &to.tree).unwrap(), expected);
        assert_eq!(changes(&tree.pinned, &to.tree, &to.tree).unwrap(), []);
    }

    #[test]
    fn counts_commits() {
        let sample = Sample::unborn();
        let pinned = sample.pinned();
        assert_eq!(commits_between(&pinned, None, None).unwrap(), 0);
        let mut heads = vec![None];
        for name in ["a", "b", "c"] {
            sample.write(name, b"x");
            sample.commit(name);
            heads.push(Some(sample.user(&["rev-parse", "HEAD"])));
        }
        let count = |from: usize, to: usize| {
            commits_between(&pinned, heads[from].as_deref(), heads[to].as_deref()).unwrap()
        };
        assert_eq!([count(0, 3), count(1, 3), count(2, 2), count(3, 1)], [3, 2, 0, 0]);
    }

    #[test]
    fn g29_added_lines_are_searched_whatever_the_attributes_say() {
        let sample = Sample::committed();
        let canary = format!("touch {}; cat", sample.marker().display());
        sample.user(&["config", "diff.hide.textconv", &canary]);
        sample.user(&["config", "diff.hide.command", &canary]);
        sample.user(&["config", "diff.external", &canary]);
        let mut tree = sample.tree();
        let from = tree.status().unwrap();
        sample.write(".gitattributes", b"*.rs -diff\n*.sql diff=hide\n");
        sample.write("x.rs", b"++ password = 1\n\0\n");
        sample.write("x.sql", b"CREATE TABLE t\n");
        std::fs::remove_file(sample.path("a.txt")).unwrap();
        let to = tree.status().unwrap();
        let matches = |pattern: &str| {
            let changed = changes(&tree.pinned, &from.tree, &to.tree).unwrap();
            let paths: Vec<&Path> = changed.iter().map(|it| it.path.as_path()).collect();
            let pattern = Regex::new(pattern).unwrap();
            digest_of_changes(&tree.pinned, &from.tree, &to.tree, &paths, Some(&pattern)).unwrap().is_some()
        };
        let found = ["^\\+\\+ password", "CREATE TABLE", "^a$", "x\\.rs", "password = 2"].map(matches);
        assert_eq!(found, [true, true, false, false, false]);
        assert!(!sample.marker().exists());
    }

    #[test]
    fn lines_that_look_like_headers_are_content() {
        let diff = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ f\n--- old\n+++ new\n+@@ -1 +1 @@\n\\ No newline\n";
        let lines: Vec<&[u8]> = added_lines(diff).collect();
        assert_eq!(lines, [&b"++ new"[..], b"@@ -1 +1 @@"]);
    }

    #[test]
    fn documents_lie_under_docs_or_at_the_root() {
        let paths = ["README.md", "docs/a/b.MD", "src/x.md", "docs/x.txt", "notdocs/x.md", "x.markdown"];
        let mut given: Vec<Change> = paths.iter().map(|it| change(it, ChangeKind::Added)).collect();
        given.push(change("docs/gone.md", ChangeKind::Deleted));
        let found: Vec<_> = documents(&given).iter().map(|it| it.path.to_str().unwrap()).collect();
        assert_eq!(found, ["README.md", "docs/a/b.MD", "x.markdown"]);
    }

    #[test]
    fn decision_records_are_known_by_folder_or_name() {
        let says = |path: &str| has_decision_record(&[change(path, ChangeKind::Modified)]);
        for yes in [
            "docs/adr/1.md",
            "docs/x/Decisions/y.md",
            "ADR-001-cache.md",
            "docs/adr0001.md",
            "docs/0003_adr.md",
        ] {
            assert!(says(yes), "{yes}");
        }
        for no in ["docs/quadratic.md", "README.md", "src/adr/1.md", "docs/adr/1.txt", "docs/leaders.md"] {
            assert!(!says(no), "{no}");
        }
    }

    /// A digest is about the files that match, whatever happens to others.
    #[test]
    fn a_digest_follows_the_files_that_match() {
        let sample = Sample::committed();
        let mut tree = sample.tree();
        let from = tree.status().unwrap();
        let pattern = Regex::new("password").unwrap();
        let mut digest = |name: &str, text: &[u8]| {
            sample.write(name, text);
            let to = tree.status().unwrap();
            let changed = changes(&tree.pinned, &from.tree, &to.tree).unwrap();
            let paths: Vec<&Path> = changed.iter().map(|it| it.path.as_path()).collect();
            digest_of_changes(&tree.pinned, &from.tree, &to.tree, &paths, Some(&pattern)).unwrap()
        };
        assert_eq!(digest("b.rs", b"diff --git\n"), None);
        let first = digest("a.rs", b"password = 1\n");
        assert!(first.is_some());
        assert_eq!(digest("b.rs", b"another\n"), first);
        assert_ne!(digest("a.rs", b"password = 1\nlogin()\n"), first);
    }
}
