//! Snapshots: the whole working tree as a commit under `refs/loop/snap/<run>/<number>`, so that
//! nothing the program or an agent does to uncommitted work is final.
//!
//! Taking one writes objects and one ref; HEAD, the user's index and every file stay as they are.
//! Restoring one writes the files that differ and deletes nothing: it takes a snapshot first,
//! leaves alone what is not in the snapshot, and writes over nothing that the first snapshot does
//! not hold. Ignored files are not part of a snapshot.
//!
//! Numbers are given here, one above the highest there is: a number of the caller's might come twice
//! after a crash, and the second snapshot would hide the first.

use crate::tree::repository::git::{Git, GitError};
use crate::tree::repository::git_text::{is_object_id, listed_paths, valid_ref_part};
use crate::tree::repository::pinned::Pinned;
use crate::tree::snapshots::changes::{Change, ChangeKind, changes};
use crate::tree::status::tree_status::TreeStatus;
use crate::tree::status::working_tree::WorkingTree;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Twenty iterations back is further than anybody has asked to go, and bounds what stays in the
/// object store.
const KEPT_MOST: usize = 20;

/// What was left out is named in the snapshot itself up to here.
const LEFT_OUT_NAMED: usize = 50;

/// Begins a line of a snapshot's message that names what it does not hold.
const NOT_KEPT: &str = "not kept: ";

/// Where the last one that was taken is noted.
const KEPT: &str = "kept";

/// The note is a name and two object ids.
const NOTE_MOST: usize = 1 << 10;

/// A snapshot that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) number: u64,
    /// The full name of its ref.
    pub(crate) name: String,
    pub(crate) commit: String,
    pub(crate) tree: String,
    /// Seconds since 1970.
    pub(crate) taken_at: i64,
}

/// The outcome of taking one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The ref that holds the tree: a fresh one, or the last one when nothing has changed since.
    pub(crate) name: String,
    pub(crate) commit: String,
    /// What the snapshot does not hold, each with its reason.
    pub(crate) left_out: Vec<String>,
}

/// The outcome of restoring one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Restored {
    /// The state before, should the restoring itself be regretted.
    pub(crate) before: Taken,
    pub(crate) written: Vec<PathBuf>,
    /// Files of the snapshot that were not written, because something is in their place that could
    /// not be brought back.
    pub(crate) kept_out: Vec<PathBuf>,
}

/// Keeps what a look saw.
pub(crate) fn take(pinned: &Pinned, status: &TreeStatus, run: &str) -> Result<Taken, GitError> {
    let taken = |name: &str, commit: &str| Taken {
        name: name.to_owned(),
        commit: commit.to_owned(),
        left_out: status.left_out.clone(),
    };
    if let Some((name, commit)) = noted(pinned, status, run) {
        return Ok(taken(&name, &commit));
    }
    let existing = list(pinned, run)?;
    if let Some(last) = existing.last().filter(|it| it.tree == status.tree) {
        return Ok(taken(&last.name, &last.commit));
    }
    let number = existing.last().map_or(1, |it| it.number + 1);
    let name = format!("{}{number}", folder_of(run));
    let mut message = format!("loop: snapshot {number} of run {run}\n");
    for (index, name) in status.left_out.iter().take(LEFT_OUT_NAMED).enumerate() {
        message.push_str(if index == 0 { "\n" } else { "" });
        // A name with a line break must not look like two.
        message.push_str(&format!("{NOT_KEPT}{}\n", name.replace('\n', "\\n")));
    }
    let commit = pinned.commit_tree(&status.tree, status.commit.as_deref(), &message)?;
    let mut orders = format!("create {name} {commit}\n");
    let surplus = (existing.len() + 1).saturating_sub(KEPT_MOST);
    for old in &existing[..surplus] {
        orders.push_str(&format!("delete {} {}\n", old.name, old.commit));
    }
    let arguments = ["-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"];
    pinned.repository.durable().feed(arguments, orders.as_bytes())?;
    settle(pinned, &name)?;
    let _only_a_cache = pinned.note(KEPT, format!("{name} {commit} {}\n", status.tree).as_bytes());
    Ok(taken(&name, &commit))
}

/// Returns the snapshot that was taken last, if it holds what the look saw and its ref is a file that
/// still names it; otherwise git has to be asked which there are.
fn noted(pinned: &Pinned, status: &TreeStatus, run: &str) -> Option<(String, String)> {
    let read = |path: &Path| loop_base::files::read(path, NOTE_MOST).ok();
    let note = String::from_utf8(read(&pinned.beside(KEPT))?).ok()?;
    let [name, commit, tree] = note.trim_end().split(' ').collect::<Vec<_>>().try_into().ok()?;
    let _number: u64 = name.strip_prefix(&folder_of(run))?.parse().ok()?;
    let target = read(&pinned.repository.common_dir().join(name))?;
    (tree == status.tree && target.trim_ascii_end() == commit.as_bytes())
        .then(|| (name.to_owned(), commit.to_owned()))
}

/// What a snapshot does not hold, as its message says it.
pub(crate) fn left_out(pinned: &Pinned, snapshot: &Snapshot) -> Result<Vec<String>, GitError> {
    let message = pinned.repository.run(["log", "-1", "--format=%b", &snapshot.commit, "--"])?;
    let message = String::from_utf8_lossy(&message);
    Ok(message.lines().filter_map(|it| it.strip_prefix(NOT_KEPT)).map(str::to_owned).collect())
}

/// Removes every snapshot of a run, which nobody can go back to any more.
pub(crate) fn forget(repository: &Git, run: &str) -> Result<usize, GitError> {
    let proven = ["base", "head", "line", "train", "journal"].map(|it| format!("refs/loop/{it}/{run}"));
    let mut asked = vec!["for-each-ref".to_owned(), "--format=%(refname) %(objectname)".to_owned()];
    asked.push(folder_of(run));
    asked.extend(proven);
    let output = repository.run(asked)?;
    let text = String::from_utf8_lossy(&output);
    let orders: String = text.lines().map(|it| format!("delete {it}\n")).collect();
    if !orders.is_empty() {
        repository.feed(["-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"], orders.as_bytes())?;
    }
    Ok(text.lines().count())
}

/// Lists the snapshots of a run, oldest first.
pub(crate) fn list(pinned: &Pinned, run: &str) -> Result<Vec<Snapshot>, GitError> {
    let format = "--format=%(refname) %(objectname) %(tree) %(committerdate:unix)";
    let output = pinned.repository.run(["for-each-ref", format, &folder_of(run)])?;
    let mut snapshots: Vec<Snapshot> =
        String::from_utf8_lossy(&output).lines().filter_map(|it| read_snapshot(it, run)).collect();
    snapshots.sort_by_key(|it| it.number);
    Ok(snapshots)
}

/// Brings the files of a snapshot back into the working tree.
pub(crate) fn restore(tree: &mut WorkingTree, run: &str, snapshot: &Snapshot) -> Result<Restored, GitError> {
    let status = tree.status()?;
    let before = take(&tree.pinned, &status, run)?;
    let (written, kept_out) = to_restore(&tree.pinned, &status.tree, snapshot)?;
    check_out(&tree.pinned, &snapshot.tree, tree.pinned.repository.work_tree(), Some(&written))?;
    Ok(Restored { before, written, kept_out })
}

/// Returns which files bringing a snapshot back would write, and which it would not, because something
/// else is in their place.
pub(crate) fn would_restore(
    tree: &mut WorkingTree,
    snapshot: &Snapshot,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), GitError> {
    let status = tree.status()?;
    to_restore(&tree.pinned, &status.tree, snapshot)
}

fn to_restore(
    pinned: &Pinned,
    now: &str,
    snapshot: &Snapshot,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), GitError> {
    let work_tree = pinned.repository.work_tree();
    let (mut written, mut kept_out) = (Vec::new(), Vec::new());
    for change in changes(pinned, now, &snapshot.tree)? {
        match change.kind {
            ChangeKind::Deleted => {}
            _ if change.submodule => kept_out.push(change.path),
            ChangeKind::Added | ChangeKind::Modified if is_free(work_tree, &change) => {
                written.push(change.path)
            }
            ChangeKind::Added | ChangeKind::Modified => kept_out.push(change.path),
        }
    }
    Ok((written, kept_out))
}

/// Writes all files of a snapshot into a folder that is empty or absent.
pub(crate) fn write_into(pinned: &Pinned, snapshot: &Snapshot, folder: &Path) -> Result<(), GitError> {
    let failed = |source| GitError::File { doing: "restoring into", path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    if fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(failed(std::io::ErrorKind::DirectoryNotEmpty.into()));
    }
    check_out(pinned, &snapshot.tree, folder, None)
}

/// Puts paths back to what a tree says of them; what it does not have is removed. The caller has kept a
/// snapshot of what lies there.
pub(crate) fn put_back(pinned: &Pinned, tree: &str, paths: &[PathBuf]) -> Result<(), GitError> {
    let output = pinned.without_index().run(["ls-tree", "-r", "-z", "--name-only", tree])?;
    let known: std::collections::BTreeSet<PathBuf> = listed_paths(&output).collect();
    let work_tree = pinned.repository.work_tree();
    let (there, gone): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.iter().cloned().partition(|it| known.contains(it));
    for path in gone {
        let whole = work_tree.join(&path);
        match fs::remove_file(&whole) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(GitError::File { doing: "removing", path: whole, source });
            }
            Ok(()) | Err(_) => (),
        }
    }
    check_out(pinned, tree, work_tree, Some(&there))
}

/// The order is: files into objects, objects into a commit, the commit's name into a ref, each on the
/// disk before the next. Git syncs the ref's file and then renames it; that the new name lasts is left
/// to the folder, whose sync also carries every name that was made before it in the same file system.
fn settle(pinned: &Pinned, name: &str) -> Result<(), GitError> {
    let path = pinned.repository.common_dir().join(name);
    // Where refs are kept in tables there is no such folder, and git syncs the table itself.
    let Some(folder) = path.parent().filter(|it| it.is_dir()) else { return Ok(()) };
    let synced = fs::File::open(folder).and_then(|it| it.sync_all());
    synced.map_err(|source| GitError::File { doing: "syncing", path: folder.to_owned(), source })
}

fn folder_of(run: &str) -> String {
    assert!(valid_ref_part(run), "a run's id is checked before it names a ref: {run:?}");
    format!("refs/loop/snap/{run}/")
}

fn read_snapshot(line: &str, run: &str) -> Option<Snapshot> {
    let [name, commit, tree, taken_at] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let number = name.strip_prefix(&folder_of(run))?.parse().ok()?;
    // Somebody else may have put something there that is no commit; it is not ours to use or delete.
    let ids = is_object_id(commit) && is_object_id(tree);
    ids.then(|| Snapshot {
        number,
        name: name.to_owned(),
        commit: commit.to_owned(),
        tree: tree.to_owned(),
        taken_at: taken_at.parse().unwrap_or_default(),
    })
}

/// Says whether writing a file loses nothing: what is there is part of the snapshot just taken, or
/// nothing is there, and only folders lead to it.
fn is_free(work_tree: &Path, change: &Change) -> bool {
    let parents = change.path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    let led_to_by_folders = parents
        .map(|it| fs::symlink_metadata(work_tree.join(it)))
        .all(|it| it.map_or_else(|error| error.kind() == std::io::ErrorKind::NotFound, |it| it.is_dir()));
    let place = fs::symlink_metadata(work_tree.join(&change.path));
    let known = match change.kind {
        ChangeKind::Added => place.is_err(),
        ChangeKind::Modified => place.is_ok_and(|it| !it.is_dir()),
        ChangeKind::Deleted => false,
    };
    led_to_by_folders && known
}

/// Writes the named files of a snapshot, or all, below a folder. Line endings follow the attributes
/// of the snapshot, not those of the files that lie there.
fn check_out(pinned: &Pinned, tree: &str, folder: &Path, only: Option<&[PathBuf]>) -> Result<(), GitError> {
    let (git, index) = pinned.with_index("restore-index");
    let git = git.at(folder).with(vec![("GIT_ATTR_SOURCE", tree.into())]);
    let written = git.run(["-c", "core.splitIndex=false", "read-tree", tree]).and_then(|_| match only {
        None => git.run(["-c", "core.splitIndex=false", "checkout-index", "--quiet", "--force", "--all"]),
        Some([]) => Ok(Vec::new()),
        Some(paths) => {
            let mut input = Vec::new();
            for path in paths {
                input.extend_from_slice(path.as_os_str().as_bytes());
                input.push(0);
            }
            git.feed(
                ["-c", "core.splitIndex=false", "checkout-index", "--quiet", "--force", "-z", "--stdin"],
                &input,
            )
        }
    });
    let _may_be_absent = fs::remove_file(index);
    written.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample::{Sample, walk};
    use proptest::prelude::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const RUN: &str = "1f3e5a7b-run";

    fn take_now(tree: &mut WorkingTree) -> Taken {
        let status = tree.status().unwrap();
        take(&tree.pinned, &status, RUN).unwrap()
    }

    #[test]
    fn a_snapshot_is_a_commit_on_head_that_nothing_else_sees() {
        let sample = Sample::committed();
        let before = sample.fingerprint();
        sample.write("b.txt", b"b\n");
        let mut tree = sample.tree();
        let taken = take_now(&mut tree);
        assert_eq!(taken.name, format!("refs/loop/snap/{RUN}/1"));
        assert_eq!(sample.fingerprint(), before);
        let told = sample.user(&["log", "-1", "--format=%an <%ae> %cn %s", &taken.commit]);
        assert_eq!(told, format!("loopctl <loop@localhost> loopctl loop: snapshot 1 of run {RUN}"));
        let parent = sample.user(&["rev-parse", &format!("{}^", taken.commit)]);
        assert_eq!(parent, sample.user(&["rev-parse", "HEAD"]));
        assert_eq!(sample.user(&["show", &format!("{}:b.txt", taken.name)]), "b");
        assert_eq!(sample.user(&["status", "--porcelain"]), "?? b.txt");
    }

    #[test]
    fn the_same_tree_is_kept_once_and_the_last_twenty_are_kept() {
        let sample = Sample::unborn();
        let mut tree = sample.tree();
        for number in 1..=23 {
            sample.write("x", format!("{number}").as_bytes());
            let taken = take_now(&mut tree);
            assert_eq!(take_now(&mut tree), taken);
        }
        let numbers: Vec<u64> = list(&tree.pinned, RUN).unwrap().iter().map(|it| it.number).collect();
        assert_eq!(numbers, (4..=23).collect::<Vec<_>>());
        assert_eq!(list(&tree.pinned, "other-run").unwrap(), []);
    }

    #[test]
    fn a_worktree_has_snapshots_of_its_own() {
        let sample = Sample::committed();
        let place = sample.outside("second");
        sample.user(&["worktree", "add", "-q", "-b", "side", place.to_str().unwrap()]);
        let before = sample.fingerprint();
        std::fs::write(place.join("only-there"), b"x").unwrap();
        let pinned = Pinned::open(&sample.git_at(&place), &sample.outside("run2/git")).unwrap();
        let mut tree =
            WorkingTree::open(pinned, crate::tree::status::path_patterns::Ours::read::<&str>(&[]).unwrap())
                .unwrap();
        let status = tree.status().unwrap();
        assert_eq!(status.uncommitted.iter().collect::<Vec<_>>(), [Path::new("only-there")]);
        let taken = take(&tree.pinned, &status, "run-2").unwrap();
        assert_eq!(sample.user(&["show", &format!("{}:only-there", taken.name)]), "x");
        assert_eq!(sample.fingerprint(), before);
    }

    #[test]
    fn restoring_deletes_nothing_and_writes_over_nothing_unknown() {
        let sample = Sample::committed();
        sample.write("lost", b"lost");
        sample.write("turned", b"file");
        sample.write("now-ignored", b"old");
        sample.write("deep/file", b"deep");
        let mut tree = sample.tree();
        take_now(&mut tree);
        let snapshot = list(&tree.pinned, RUN).unwrap().remove(0);
        std::fs::remove_file(sample.path("lost")).unwrap();
        std::fs::remove_file(sample.path("turned")).unwrap();
        std::fs::remove_dir_all(sample.path("deep")).unwrap();
        sample.write("deep", b"a file where a folder was");
        sample.write("turned/inside", b"dear");
        sample.write("now-ignored", b"precious");
        sample.write(".gitignore", b"now-ignored\nturned\n");
        sample.write("later", b"later");
        sample.write("a.txt", b"later\n");
        let repository = sample.fingerprint();
        let restored = restore(&mut tree, RUN, &snapshot).unwrap();
        assert_eq!(restored.written, [PathBuf::from("a.txt"), "lost".into()]);
        assert_eq!(restored.kept_out, [PathBuf::from("deep/file"), "now-ignored".into(), "turned".into()]);
        let read = |name: &str| String::from_utf8(std::fs::read(sample.path(name)).unwrap()).unwrap();
        let contents = ["lost", "a.txt", "turned/inside", "now-ignored", "later"].map(read);
        assert_eq!(contents, ["lost", "a\n", "dear", "precious", "later"]);
        assert_eq!(sample.fingerprint(), repository);
        // The state before is a snapshot too.
        assert_eq!(sample.user(&["show", &format!("{}:a.txt", restored.before.name)]), "later");
    }

    #[test]
    fn a_folder_that_holds_something_is_not_restored_into() {
        let sample = Sample::committed();
        let mut tree = sample.tree();
        take_now(&mut tree);
        let snapshot = list(&tree.pinned, RUN).unwrap().remove(0);
        let error = write_into(&tree.pinned, &snapshot, &sample.top()).unwrap_err();
        assert!(matches!(error, GitError::File { doing: "restoring into", .. }), "{error}");
    }

    #[derive(Clone, Debug)]
    enum FileEdit {
        Write(String, Vec<u8>, bool),
        Link(String, String),
        Delete(String),
    }

    fn name() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[a-c]",
            Just("we\nird \"q\"".to_owned()),
            Just("ü*:".to_owned()),
            Just("-x".to_owned())
        ];
        prop::collection::vec(part, 1..4).prop_map(|it| it.join("/"))
    }

    fn edit() -> impl Strategy<Value = FileEdit> {
        let content =
            prop_oneof![Just(vec![]), prop::collection::vec(any::<u8>(), 0..40), Just(b"a\r\nb\n".to_vec())];
        prop_oneof![
            4 => (name(), content, any::<bool>()).prop_map(|(path, content, run)| FileEdit::Write(path, content, run)),
            1 => (name(), name()).prop_map(|(path, target)| FileEdit::Link(path, target)),
            2 => name().prop_map(FileEdit::Delete),
        ]
    }

    /// Does what can be done; an edit that runs into a file or a link on its way is skipped.
    fn perform(top: &Path, edit: &FileEdit) {
        let (FileEdit::Write(name, ..) | FileEdit::Link(name, _) | FileEdit::Delete(name)) = edit;
        let path = top.join(name);
        let parents = Path::new(name).ancestors().skip(1).map(|it| top.join(it));
        if parents.clone().any(|it| it.is_symlink()) {
            return;
        }
        let _already_gone = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        if std::fs::create_dir_all(path.parent().unwrap()).is_err() {
            return;
        }
        match edit {
            FileEdit::Write(_, content, executable) => {
                std::fs::write(&path, content).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            }
            FileEdit::Link(_, target) => symlink(target, &path).unwrap(),
            FileEdit::Delete(_) => {}
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

        #[test]
        fn g18_every_byte_comes_back(rounds in prop::collection::vec(prop::collection::vec(edit(), 1..8), 1..4), commit in any::<bool>()) {
            let sample = Sample::committed();
            let mut tree = sample.tree();
            let mut seen = Vec::new();
            for edits in &rounds {
                edits.iter().for_each(|it| perform(&sample.top(), it));
                let files = sample.files();
                let taken = take_now(&mut tree);
                prop_assert_eq!(&taken.left_out, &Vec::<String>::new());
                seen.push((taken.name, files));
                if commit {
                    sample.user(&["add", "-A"]);
                    sample.user(&["commit", "-q", "--allow-empty", "-m", "round"]);
                }
            }
            let before = sample.fingerprint();
            let snapshots = list(&tree.pinned, RUN).unwrap();
            for (number, (name, files)) in seen.iter().enumerate() {
                let snapshot = snapshots.iter().find(|it| it.name == *name).unwrap();
                let place = sample.outside(&format!("out-{number}"));
                write_into(&tree.pinned, snapshot, &place).unwrap();
                prop_assert_eq!(&walk(&place), files);
            }
            // In place: what is named as written is there again, byte for byte, and nothing is gone.
            let (name, files) = &seen[0];
            let snapshot = snapshots.iter().find(|it| it.name == *name).unwrap();
            let present = sample.files();
            let restored = restore(&mut tree, RUN, snapshot).unwrap();
            let after = sample.files();
            for (path, state) in files {
                prop_assert!(restored.kept_out.contains(path) || after.get(path) == Some(state), "{path:?}");
            }
            for (path, state) in &present {
                prop_assert!(files.contains_key(path) || after.get(path) == Some(state), "{path:?}");
            }
            prop_assert_eq!(sample.fingerprint(), before);
        }
    }
}
