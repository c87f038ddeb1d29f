//! What is wrong around us, such as a full disk or a repository that is gone: found in an error, said in words, and
//! what a person can do about it. The run is as it was, and continues when that is mended.

use super::step::NextStep;
use crate::tree::git::{GitError, STARTING_GIT};
use loop_base::text::{sanitise, shell_word};
use loop_store::StoreError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What is wrong around us. The run is as it was, and continues when that is mended.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    FullDisk,
    /// The disk, or what connects it, answers with errors.
    FailingDisk,
    FewFiles,
    NoRepository,
    /// The folder that the run works in is gone.
    NoTree(PathBuf),
    /// There is a `.git`, and git does not take it for one.
    DamagedRepository,
    /// Git cannot read its index, which holds nothing that git cannot find out again.
    DamagedIndex,
    /// A disk of somebody else's, such as that of the temporary files.
    ReadOnlyDisk,
    NotWritable(PathBuf),
    /// It is there, and its mode keeps us out.
    Unreadable(PathBuf),
}

impl Cause {
    /// Git and the programs that we start say it only in words.
    pub(super) fn of(error: &anyhow::Error, text: &str) -> Option<Cause> {
        match (error.downcast_ref::<StoreError>(), error.downcast_ref::<GitError>()) {
            (Some(StoreError::NotWritable { path, .. }), _) if is_full(path) => return Some(Cause::FullDisk),
            (Some(StoreError::NotWritable { path, .. }), _) => return Some(Cause::NotWritable(path.clone())),
            (Some(StoreError::Full { path, why }), _) if is_failing(why) && !is_full(path) => {
                return Some(Cause::FailingDisk);
            }
            (Some(StoreError::Full { .. }), _) => return Some(Cause::FullDisk),
            (_, Some(GitError::File { path, source, .. })) if is_refused(source) => {
                return Some(Cause::NotWritable(path.clone()));
            }
            (_, Some(GitError::File { doing: STARTING_GIT, path, source }))
                if source.kind() == ErrorKind::NotFound =>
            {
                return Some(Cause::NoTree(path.clone()));
            }
            (_, Some(GitError::NotARepository { path, .. })) if kept_out(&path.join(".git")).is_some() => {
                return kept_out(&path.join(".git")).map(Cause::Unreadable);
            }
            (_, Some(GitError::NotARepository { path, reason }))
                if reason.contains("fatal:") && !reason.contains("dubious") =>
            {
                // Git refuses it, and there is a file or a folder of that name: it was a repository once.
                return path.join(".git").symlink_metadata().is_ok().then_some(Cause::DamagedRepository);
            }
            _ => (),
        }
        let says = |words: &[&str]| words.iter().any(|it| text.contains(it));
        let is_git = matches!(error.downcast_ref::<GitError>(), Some(GitError::Failed { .. }));
        if says(&["Too many open files"]) {
            Some(Cause::FewFiles)
        } else if says(&["No space left on device", "Out of diskspace", "Disk quota exceeded"]) {
            Some(Cause::FullDisk)
        } else if is_failing(text) {
            Some(Cause::FailingDisk)
        } else if says(&["Read-only file system"]) {
            Some(Cause::ReadOnlyDisk)
        } else if let Some(path) = unwritable(text) {
            Some(Cause::NotWritable(path))
        } else if says(&["index file smaller", "index file corrupt", "bad index file"]) {
            Some(Cause::DamagedIndex)
        } else {
            let is_gone = is_git && says(&["not a git repository"]);
            let closed = quoted(text).and_then(|it| kept_out(Path::new(it)));
            is_gone.then(|| closed.map_or(Cause::NoRepository, Cause::Unreadable))
        }
    }

    pub(super) fn words(&self, text: &str) -> String {
        match self {
            Cause::FullDisk => format!("the disk is full: {text}"),
            Cause::FailingDisk => format!("the disk reports errors: {text}"),
            Cause::FewFiles => {
                let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
                let most = most.map_or(String::new(), |it| format!(" ({it})"));
                format!("the limit of open files is too low{most}: {text}")
            }
            Cause::NoRepository => format!("the repository is missing: {text}"),
            Cause::DamagedRepository => format!("the repository is damaged: {text}"),
            Cause::DamagedIndex => format!("the index of the repository is damaged: {text}"),
            Cause::ReadOnlyDisk => format!("the disk is mounted for reading only: {text}"),
            Cause::NoTree(path) => format!("the working tree {} is missing: {text}", path.display()),
            Cause::NotWritable(_) => text.to_owned(),
            Cause::Unreadable(path) => format!("{} may not be read: {text}", path.display()),
        }
    }

    pub(super) fn step(&self) -> NextStep {
        match self {
            Cause::FullDisk => NextStep::by_hand("free some disk space, then loop run"),
            Cause::FailingDisk => {
                NextStep::by_hand("dmesg may say why; loop run continues once the disk works")
            }
            Cause::FewFiles => "ulimit -n 1024 && loop run".into(),
            Cause::NoRepository | Cause::DamagedRepository => {
                NextStep::by_hand("restore its .git, then loop run")
            }
            Cause::NoTree(path) => NextStep::by_hand(format!(
                "move {} back or restore it, then loop run",
                sanitise(&path.to_string_lossy())
            )),
            Cause::Unreadable(path) => {
                format!("chmod -R u+rwX {}", shell_word(&sanitise(&path.to_string_lossy()))).into()
            }
            Cause::ReadOnlyDisk => NextStep::by_hand("mount the disk for writing, then loop run"),
            Cause::DamagedIndex => {
                NextStep::by_hand("rebuild it with rm .git/index && git reset, then loop run")
            }
            Cause::NotWritable(path) => {
                let path = &within_home(path);
                let place = sanitise(&path.to_string_lossy());
                match rustix::fs::statvfs(path) {
                    Ok(it) if it.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) => {
                        NextStep::by_hand(format!(
                            "mount the disk of {place} for writing; until then loop status still reads it"
                        ))
                    }
                    Ok(_) | Err(_) => format!("chmod -R u+rwX {}", shell_word(&place)).into(),
                }
            }
        }
    }
}

/// Whether SQLite or the system says that a disk answers with errors.
fn is_failing(text: &str) -> bool {
    text.contains("disk I/O error") || text.contains("Input/output error")
}

/// SQLite needs this much beside its database before it can read it, and calls it an error of the disk where there
/// is less.
const ROOM_LEAST: u64 = 64 << 10;

/// Whether the disk of a file has no room left.
fn is_full(path: &Path) -> bool {
    let there = path.ancestors().find_map(|it| rustix::fs::statvfs(it).ok());
    there.is_some_and(|it| {
        let has_inodes = it.f_files == 0 || 0 < it.f_favail;
        it.f_bavail.saturating_mul(it.f_frsize) < ROOM_LEAST || !has_inodes
    })
}

/// Whether the system says that something may not be read or written.
fn is_refused(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
}

/// Returns the home that a file of ours lies in: what one of them lacks, the others lack too.
fn within_home(path: &Path) -> PathBuf {
    let is_ours = |it: &&Path| {
        it.file_name().is_some_and(|it| {
            ["loop.db", "runs", "turnstile", "proof", "looks"].iter().any(|name| it == *name)
        })
    };
    path.ancestors().find(is_ours).and_then(Path::parent).unwrap_or(path).to_owned()
}

/// Returns the first path that a program names between quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('\'').find(|it| it.starts_with('/'))
}

/// Returns what a repository's folder consists of that is there and may not be entered.
fn kept_out(git: &Path) -> Option<PathBuf> {
    let is_closed =
        |it: &PathBuf| std::fs::read_dir(it).is_err_and(|it| it.kind() == ErrorKind::PermissionDenied);
    [git.to_owned(), git.join("objects"), git.join("refs")].into_iter().find(is_closed)
}

/// Returns the file of ours that may not be written, where the system's words follow its path.
fn unwritable(text: &str) -> Option<PathBuf> {
    let (before, _) = text.split_once(": Permission denied")?;
    let at = before.rfind(" /").map_or(0, |it| it + 1);
    let path = Path::new(&before[at..]);
    (path.is_absolute() && within_home(path) != path).then(|| path.to_owned())
}
