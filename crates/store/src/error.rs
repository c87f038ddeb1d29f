//! Why the store could not work. Every message names the thing and the next step, and every error
//! knows its exit code. Errors of SQLite and of the file system are sorted here, once, by what a
//! person can do about them; nothing else in the store looks at error numbers.

use super::holder::Holder;
use loop_base::text::shell_word;
use rusqlite::ErrorCode;
use rusqlite::types::Type;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "{} was written by a later version of loop (schema {found}, this one knows {known}); install that version, or use another --home",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is not a database of loop ({why}); move it away, or use another --home", path.display())]
    Foreign { path: PathBuf, why: String },
    #[error("{} is damaged: {what}; see loop verify, restore a backup, or move it away", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error(
        "{} is damaged: run {run} is missing, but its folder exists; restore a backup, or give the run up: mv {} {}.lost",
        path.display(), shell_word(&folder.display().to_string()), shell_word(&folder.display().to_string())
    )]
    MissingRun { path: PathBuf, run: String, folder: PathBuf },
    #[error("{} was {} while it was in use; {}", path.display(), what_happened(*is_restored, kept.is_some()), what_is_kept(kept.as_deref(), *is_restored))]
    Lost { path: PathBuf, kept: Option<PathBuf>, is_restored: bool },
    #[error("the folder of the run, {}, was {} while it was in use", path.display(), whereto(moved_to.as_deref()))]
    FolderGone { path: PathBuf, moved_to: Option<PathBuf> },
    #[error("{} {what}, so the start of this run is unknown", path.display())]
    NoOpening { path: PathBuf, what: String },
    #[error("{} could not be written: {why}", path.display())]
    Full { path: PathBuf, why: String },
    #[error("{} may not be written: {why}", path.display())]
    NotWritable { path: PathBuf, why: String },
    #[error("{} cannot be a home of loop: {why}; name an empty or new folder with --home", path.display())]
    NotAHome { path: PathBuf, why: String },
    #[error("{what} is in use by {}", named(by.as_ref()))]
    Held { what: Locked, by: Option<Holder> },
    #[error("another controller took over run {run}; this one wrote nothing more, loop status shows the run")]
    Fenced { run: String },
    #[error("run {run} does not exist; loop runs lists those that do")]
    NoRun { run: String },
    #[error(
        "the workflow of run {run} was stored by another version of loop (format {found}, this one knows {known}): {why}; install that version, or start again with loop run --fresh"
    )]
    OtherVersion { run: String, found: i64, known: i64, why: String },
    #[error("{} stayed locked by {}", path.display(), keeper(by.as_ref()))]
    Busy { path: PathBuf, by: Option<Holder> },
    #[error("{}: {why}", path.display())]
    Other { path: PathBuf, why: String },
}

impl StoreError {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Newer { .. }
            | Self::Foreign { .. }
            | Self::Damaged { .. }
            | Self::MissingRun { .. }
            | Self::Lost { .. }
            | Self::FolderGone { .. }
            | Self::NoOpening { .. }
            | Self::OtherVersion { .. } => 8,
            Self::Held { .. } | Self::Fenced { .. } => 7,
            Self::NoRun { .. } | Self::NotAHome { .. } => 2,
            Self::Full { .. } | Self::NotWritable { .. } | Self::Busy { .. } | Self::Other { .. } => 1,
        }
    }

    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { path: PathBuf::from(super::schema::DATABASE), what: what.into() }
    }

    /// A run that has a folder and no row.
    pub(super) fn missing_run(run: &str, folder: PathBuf) -> Self {
        Self::MissingRun { path: PathBuf::from(super::schema::DATABASE), run: run.to_owned(), folder }
    }

    /// Sorts an error of the file system.
    pub(super) fn file(path: &Path, error: &std::io::Error) -> Self {
        let (path, why) = (path.to_path_buf(), error.to_string());
        match Errno::from_io_error(error) {
            Some(Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::FBIG) => Self::Full { path, why },
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Self::NotWritable { path, why },
            _ => Self::Other { path, why },
        }
    }

    /// Gives an error from SQLite, which knows only its database's name, that database's place.
    pub(super) fn within(mut self, folder: &Path) -> Self {
        match &mut self {
            Self::Newer { path, .. }
            | Self::Foreign { path, .. }
            | Self::Damaged { path, .. }
            | Self::MissingRun { path, .. }
            | Self::Full { path, .. }
            | Self::NotWritable { path, .. }
            | Self::NotAHome { path, .. }
            | Self::Other { path, .. } => *path = folder.join(&path),
            Self::Busy { path, by } => {
                *path = folder.join(&path);
                // SQLite locks the file beside the database.
                *by = by.take().or_else(|| Holder::of_lock(&path.with_extension("db-shm"), "POSIX"));
            }
            Self::Held { .. }
            | Self::Fenced { .. }
            | Self::NoRun { .. }
            | Self::Lost { .. }
            | Self::FolderGone { .. }
            | Self::NoOpening { .. }
            | Self::OtherVersion { .. } => {}
        }
        self
    }
}

/// What SQLite says where a table is another one than the statement means.
const NOT_OURS: [&str; 3] = ["no such ", "prohibited", "has no column"];
const OTHER_TABLES: &str = "its tables are not as loop makes them";

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let (path, why) = (PathBuf::from(super::schema::DATABASE), error.to_string());
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::DatabaseCorrupt if why.contains("schema") => {
                    Self::Damaged { path, what: "the list of its tables cannot be read".into() }
                }
                ErrorCode::DatabaseCorrupt => {
                    Self::Damaged { path, what: "pages of it cannot be read".into() }
                }
                ErrorCode::NotADatabase => {
                    Self::Foreign { path, why: "not SQLite, or its header is damaged".into() }
                }
                // A read that ends early is a file that has been cut, not a disk that is full.
                ErrorCode::SystemIoFailure
                    if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ =>
                {
                    Self::Damaged { path, what: "it ends too early".into() }
                }
                ErrorCode::DiskFull | ErrorCode::SystemIoFailure => Self::Full { path, why },
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
                    Self::NotWritable { path, why }
                }
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed => Self::Busy { path, by: None },
                // Our statements are right, so what they name has been changed.
                _ if NOT_OURS.iter().any(|it| why.contains(it)) => {
                    Self::Damaged { path, what: OTHER_TABLES.into() }
                }
                _ => Self::Other { path, why },
            },
            // The tables are strict, so a value of another kind can only come from a damaged page.
            rusqlite::Error::FromSqlConversionFailure(_, Type::Blob, _) => {
                Self::Damaged { path, what: "a hash was replaced by something else".into() }
            }
            rusqlite::Error::FromSqlConversionFailure(_, _, what) => {
                Self::Damaged { path, what: what.to_string() }
            }
            rusqlite::Error::SqlInputError { .. } => Self::Damaged { path, what: OTHER_TABLES.into() },
            rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::InvalidColumnIndex(..)
            | rusqlite::Error::Utf8Error(..) => {
                Self::Damaged { path, what: "a value was changed to one of another kind".into() }
            }
            _ => Self::Other { path, why },
        }
    }
}

/// What only one controller can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locked {
    /// A run, by the beginning of its id.
    Run(String),
    /// A working tree.
    Tree(PathBuf),
    /// The landing on a branch.
    Landing(String),
    /// The queue of a domain.
    Queue(String),
}

impl std::fmt::Display for Locked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Locked::Run(short) => write!(f, "run {short}"),
            Locked::Tree(path) => write!(f, "working tree {}", path.display()),
            Locked::Landing(branch) => write!(f, "the landing on {branch}"),
            Locked::Queue(domain) => write!(f, "the queue of {domain}"),
        }
    }
}

fn what_happened(is_restored: bool, kept: bool) -> &'static str {
    if is_restored || !kept { "deleted" } else { "replaced" }
}

fn what_is_kept(kept: Option<&Path>, is_restored: bool) -> String {
    match kept {
        None if is_restored => "it was written again from what this process had open".to_owned(),
        None => "its contents could not be saved".to_owned(),
        Some(kept) => format!("its contents are in {}", kept.display()),
    }
}

fn whereto(moved_to: Option<&Path>) -> String {
    moved_to.map_or("removed".to_owned(), |it| format!("moved to {}", it.display()))
}

fn named(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => holder.to_string(),
        None => "another controller".into(),
    }
}

fn keeper(by: Option<&Holder>) -> String {
    by.map_or("another program".to_owned(), Holder::to_string)
}
