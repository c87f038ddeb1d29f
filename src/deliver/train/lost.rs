//! What a merge would take away from others: lines that were added to the target since the work began, which
//! the merged tree lacks, and which no commit of the work's own removed. A merge that keeps one side only,
//! or a conflict that was resolved badly, removes lines that nobody meant to remove; git merges that
//! cleanly, and every check of the branch is green. Where the work has merges of its own, they may take lines away
//! that stood there before it began, too: those of the systems that it needs.

use crate::tree::git::{Git, GitError};
use loop_base::text::{counted, sanitise};
use std::collections::{BTreeMap, BTreeSet};

/// How much of a line is shown.
const SHOWN_CHARS: usize = 80;

/// Files that are looked up in the history; a merge that loses more than this is wrong as a whole.
const FILES_MOST: usize = 200;

/// Lines of one file that would be gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostLines {
    pub(crate) path: String,
    pub(crate) lines: Vec<String>,
    /// The mode that the file would lose, such as that of a program.
    pub(crate) mode: Option<String>,
    /// The commits of the target that brought them, each in words.
    pub(crate) by: Vec<String>,
}

impl LostLines {
    pub(crate) fn line(&self) -> String {
        let by = self.by.join(", ");
        match (self.lines.first(), &self.mode) {
            (Some(first), _) => {
                let first: String = first.trim().chars().take(SHOWN_CHARS).collect();
                let number = counted(self.lines.len(), "line");
                format!("{}: {number} of {by}, such as: {}", self.path, sanitise(&first))
            }
            (None, Some(mode)) => format!("{}: its mode {mode} of {by}", self.path),
            (None, None) => format!("{}: the file of {by}", self.path),
        }
    }
}

/// Returns what others added between `base` and `from` that `tree` lacks, although no commit between `from`
/// and `head` but a merge removed it. With such a merge, what is older than `base` is looked at as well.
pub(crate) fn lines(
    git: &Git,
    base: &str,
    from: &str,
    head: &str,
    tree: &str,
) -> Result<Vec<LostLines>, GitError> {
    let paths = changed(git, base, from)?;
    let taken = changed(git, from, tree)?;
    let has_merges = has_merges(git, from, head)?;
    let both: Vec<&Vec<u8>> = taken.iter().filter(|it| has_merges || paths.contains(*it)).collect();
    if both.is_empty() {
        return Ok(Vec::new());
    }
    let added = Diff::read(&diff(git, &[base, from], &both)?);
    let removed = Diff::read(&diff(git, &[from, tree], &both)?);
    let renamed = match added.files.values().any(|it| it.is_new) {
        true => renames(git, base, from)?,
        false => BTreeMap::new(),
    };
    let before: Vec<&Vec<u8>> = both.iter().filter_map(|it| renamed.get(*it)).collect();
    let mut own = own_changes(git, from, head, &[both.as_slice(), &before].concat())?;
    // A line that stands elsewhere now was moved. That can be any file, so all of them are looked at.
    let everywhere = Diff::read(&diff(git, &[from, tree], &[])?);
    let mut moved: BTreeMap<&[u8], usize> = BTreeMap::new();
    everywhere.files.values().flat_map(|it| &it.added).for_each(|it| *moved.entry(&it.1).or_default() += 1);
    let mut found = Vec::new();
    for (path, gone) in &removed.files {
        let theirs = added.files.get(path);
        let is_theirs: BTreeSet<usize> = theirs.iter().flat_map(|it| &it.added).map(|it| it.0).collect();
        let mut numbers = Vec::new();
        let mut lost = Vec::new();
        for (number, line) in &gone.removed {
            let is_blank = line.iter().all(u8::is_ascii_whitespace);
            let counts = has_merges || is_theirs.contains(number);
            if is_blank || !counts || own.take(path, line) {
                continue;
            }
            // Where they have renamed a file, all of it looks added; the work may have changed it under its old name.
            if renamed.get(path).is_some_and(|it| own.take(it, line)) {
                continue;
            }
            if !take(&mut moved, line.as_slice()) {
                numbers.push(*number);
                lost.push(String::from_utf8_lossy(line).into_owned());
            }
        }
        let is_whole = gone.is_deleted
            && (has_merges || theirs.is_some_and(|it| it.is_new))
            && !own.deleted.contains(path);
        let mode = theirs.and_then(|it| it.mode.as_ref()).filter(|it| {
            gone.mode_before.as_ref() == Some(it) && gone.mode.is_some() && !own.modes.contains(path)
        });
        let is_lost = !lost.is_empty() || mode.is_some() || is_whole && gone.removed.is_empty();
        if is_lost && found.len() < FILES_MOST {
            let is_recent = theirs.is_some() && numbers.iter().all(|it| is_theirs.contains(it));
            let range = if is_recent { format!("{base}..{from}") } else { from.to_owned() };
            let by = match lost.is_empty() {
                true => last_writer(git, &range, path)?,
                false => writers(git, &range, path, &numbers)?,
            };
            let path = String::from_utf8_lossy(path).into_owned();
            found.push(LostLines { path, lines: lost, mode: mode.cloned(), by });
        }
    }
    Ok(found)
}

/// Whether the work merged something by itself. What git merges for us takes nothing away.
fn has_merges(git: &Git, from: &str, head: &str) -> Result<bool, GitError> {
    let range = format!("{from}..{head}");
    Ok(!git.run(["rev-list", "--merges", "-1", &range, "--"])?.is_empty())
}

/// Takes one of these away, if there is one.
fn take<K: Ord + ?Sized, Q: Ord + std::borrow::Borrow<K>>(counts: &mut BTreeMap<Q, usize>, key: &K) -> bool {
    match counts.get_mut(key) {
        Some(left) if 0 < *left => {
            *left -= 1;
            true
        }
        Some(_) | None => false,
    }
}

/// What commits of the work itself took away, merges aside.
#[derive(Default)]
struct OwnChanges {
    lines: BTreeMap<(Vec<u8>, Vec<u8>), usize>,
    deleted: BTreeSet<Vec<u8>>,
    modes: BTreeSet<Vec<u8>>,
}

impl OwnChanges {
    /// Takes one removal of this line away, if there is one.
    fn take(&mut self, path: &[u8], line: &[u8]) -> bool {
        take(&mut self.lines, &(path.to_vec(), line.to_vec()))
    }
}

fn own_changes(git: &Git, from: &str, head: &str, paths: &[&Vec<u8>]) -> Result<OwnChanges, GitError> {
    let range = format!("{from}..{head}");
    let log = git.run(with_paths(&["log", "--no-merges", "--format=", "-p"], &[&range], paths))?;
    let removed = Diff::read(&log);
    let mut own = OwnChanges::default();
    for (path, file) in removed.files {
        if file.mode_before.is_some() {
            own.modes.insert(path.clone());
        }
        for (_, line) in file.removed {
            *own.lines.entry((path.clone(), line)).or_default() += 1;
        }
        if file.is_deleted {
            own.deleted.insert(path);
        }
    }
    Ok(own)
}

/// The files that were renamed between two commits: what each is called now, and what it was called.
fn renames(git: &Git, base: &str, from: &str) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, GitError> {
    let words = ["diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", base, from];
    let listing = git.run(words)?;
    let mut words = listing.split(|it| *it == 0);
    let mut found = BTreeMap::new();
    while let (Some(_), Some(before), Some(now)) = (words.next(), words.next(), words.next()) {
        found.insert(now.to_vec(), before.to_vec());
    }
    Ok(found)
}

fn changed(git: &Git, from: &str, to: &str) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let listing = git.run(["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to])?;
    Ok(listing.split(|it| *it == 0).filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect())
}

fn diff(git: &Git, sides: &[&str], paths: &[&Vec<u8>]) -> Result<Vec<u8>, GitError> {
    git.run(with_paths(&["diff-tree", "-r", "-p"], sides, paths))
}

/// A command line holds about two megabytes; beyond this many paths all of them are read.
const PATHS_MOST: usize = 1_000;

fn with_paths(command: &[&str], sides: &[&str], paths: &[&Vec<u8>]) -> Vec<std::ffi::OsString> {
    use std::os::unix::ffi::OsStringExt;
    const PLAIN: [&str; 8] = [
        "-U0",
        "--no-color",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--text",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    let words = command.iter().chain(&PLAIN).chain(sides).map(|it| (*it).into());
    let few = paths.iter().filter(|_| paths.len() <= PATHS_MOST);
    let paths = few.map(|it| std::ffi::OsString::from_vec((*it).clone()));
    words.chain(["--".into()]).chain(paths).collect()
}

/// One file of a diff, with the numbers that its lines have on their own side.
#[derive(Default)]
struct DiffFile {
    removed: Vec<(usize, Vec<u8>)>,
    added: Vec<(usize, Vec<u8>)>,
    is_new: bool,
    is_deleted: bool,
    /// Where the mode was changed, or the file is new: which it was, and which it is.
    mode_before: Option<String>,
    mode: Option<String>,
}

#[derive(Default)]
struct Diff {
    files: BTreeMap<Vec<u8>, DiffFile>,
}

impl Diff {
    /// Reads a diff without context. How many lines a hunk has stands before it, so no line is taken for a
    /// header.
    fn read(text: &[u8]) -> Diff {
        let mut diff = Diff::default();
        let mut path: Vec<u8> = Vec::new();
        let (mut old, mut new) = ((0, 0), (0, 0));
        for line in text.split(|it| *it == b'\n') {
            match line.split_first() {
                Some((b'-', rest)) if 0 < old.1 => {
                    diff.files.entry(path.clone()).or_default().removed.push((old.0, rest.to_vec()));
                    old = (old.0 + 1, old.1 - 1);
                }
                Some((b'+', rest)) if 0 < new.1 => {
                    diff.files.entry(path.clone()).or_default().added.push((new.0, rest.to_vec()));
                    new = (new.0 + 1, new.1 - 1);
                }
                _ if line.starts_with(b"diff --git ") => path = named(&line[b"diff --git ".len()..]),
                _ if line.starts_with(b"new file mode ") => {
                    let file = diff.files.entry(path.clone()).or_default();
                    (file.is_new, file.mode) = (true, last_word(line));
                }
                _ if line.starts_with(b"old mode ") => {
                    diff.files.entry(path.clone()).or_default().mode_before = last_word(line);
                }
                _ if line.starts_with(b"new mode ") => {
                    diff.files.entry(path.clone()).or_default().mode = last_word(line);
                }
                _ if line.starts_with(b"deleted file mode ") => {
                    diff.files.entry(path.clone()).or_default().is_deleted = true;
                }
                _ if line.starts_with(b"@@ -") => (old, new) = ranges(line).unwrap_or_default(),
                _ => (),
            }
        }
        diff
    }
}

fn last_word(line: &[u8]) -> Option<String> {
    line.rsplit(|it| *it == b' ').next().map(|it| String::from_utf8_lossy(it).into_owned())
}

/// The path of `a/PATH b/PATH`: without renames both are the same, so it is the half of it.
fn named(both: &[u8]) -> Vec<u8> {
    let half = both.len() / 2;
    let other = both.get(half + 1..).unwrap_or_default();
    let plain = other.strip_prefix(b"b/").map(<[u8]>::to_vec);
    // A path that git puts between quotes is taken as it stands: both diffs do the same.
    plain.unwrap_or_else(|| other.to_vec())
}

/// The first line and the number of lines on both sides.
type Ranges = ((usize, usize), (usize, usize));

fn ranges(header: &[u8]) -> Option<Ranges> {
    let text = String::from_utf8_lossy(header).into_owned();
    let mut words = text.split(' ').skip(1);
    let mut side = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?.to_owned();
        let (first, count) = match range.split_once(',') {
            Some((first, count)) => (first.parse().ok()?, count.parse().ok()?),
            None => (range.parse().ok()?, 1),
        };
        Some((first, count))
    };
    Some((side('-')?, side('+')?))
}

/// Who brought these lines to the target.
fn writers(git: &Git, range: &str, path: &[u8], numbers: &[usize]) -> Result<Vec<String>, GitError> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::OsStr::from_bytes(path);
    let words = ["blame", "--first-parent", "-s", "-l", range, "--"].map(std::ffi::OsString::from);
    // What cannot be looked up is lost all the same.
    let Ok(blamed) = git.run(words.into_iter().chain([path.to_owned()])) else {
        return Ok(vec!["another".to_owned()]);
    };
    let blamed = String::from_utf8_lossy(&blamed).into_owned();
    let mut commits: Vec<&str> = Vec::new();
    for (number, line) in blamed.lines().enumerate() {
        let commit = line.split(' ').next().unwrap_or_default().trim_start_matches('^');
        if numbers.contains(&(number + 1)) && !commits.contains(&commit) {
            commits.push(commit);
        }
    }
    let named = commits.into_iter().map(|it| in_words(git, it)).collect::<Result<Vec<String>, GitError>>()?;
    Ok(if named.is_empty() { vec!["another".to_owned()] } else { named })
}

/// Who changed a file last, where no line of it says so.
fn last_writer(git: &Git, range: &str, path: &[u8]) -> Result<Vec<String>, GitError> {
    use std::os::unix::ffi::OsStrExt;
    let words = ["log", "-1", "--first-parent", "--format=%H", range, "--"].map(std::ffi::OsString::from);
    let path = std::ffi::OsStr::from_bytes(path).to_owned();
    let commit = String::from_utf8_lossy(&git.run(words.into_iter().chain([path]))?).trim().to_owned();
    Ok(vec![if commit.is_empty() { "another".to_owned() } else { in_words(git, &commit)? }])
}

fn in_words(git: &Git, commit: &str) -> Result<String, GitError> {
    let format = "--format=%s%x00%(trailers:key=Loop-Run,valueonly)";
    let said = git.run(["log", "-1", format, commit, "--"])?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let (subject, run) = said.split_once('\0').unwrap_or((&said, ""));
    let run = run.trim().get(..8).map(|it| format!(", run {it}")).unwrap_or_default();
    let commit = commit.get(..12).unwrap_or(commit);
    Ok(format!("\"{}\" ({commit}{run})", sanitise(subject.trim())))
}
