//! A database that was deleted or replaced while it was open. Writes would go into a file that nobody
//! finds again, and look as if they had been kept. So every write looks first whether the file still has
//! its name. What this process has open is the whole truth: a deleted file is written again from it, and a
//! file that somebody put in its place is left alone, with the truth in a copy beside it.

use crate::error::StoreError;
use crate::schema::DATABASE;
use rusqlite::Connection;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What the copy is called.
const KEPT: &str = "loop.db.kept";

/// A file, whatever its name is by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DatabaseFile {
    device: u64,
    inode: u64,
}

impl DatabaseFile {
    /// Returns the file that has the database's name now.
    pub(crate) fn of(home: &Path) -> Option<DatabaseFile> {
        let found = std::fs::metadata(home.join(DATABASE)).ok()?;
        Some(DatabaseFile { device: found.dev(), inode: found.ino() })
    }
}

/// Whether a file of this name is such a copy.
pub(crate) fn is_copy(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(KEPT)
}

/// Keeps what is open, and says what happened. The caller has the right to write.
pub(crate) fn keep(home: &Path, open: &Connection) -> StoreError {
    let database = home.join(DATABASE);
    let is_deleted =
        std::fs::symlink_metadata(&database).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let lost = |kept, is_restored| StoreError::Lost { path: database.clone(), kept, is_restored };
    match copy(home, open) {
        Err(_) => lost(None, false),
        Ok(kept) if is_deleted && put_in_place(&kept, &database).is_ok() => lost(None, true),
        Ok(kept) => lost(Some(kept), false),
    }
}

fn copy(home: &Path, open: &Connection) -> Result<PathBuf, StoreError> {
    if let Err(error) = DirBuilder::new().mode(0o700).create(home)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(StoreError::file(home, &error));
    }
    let plain = home.join(KEPT);
    let numbered = home.join(format!("{KEPT}-{}", std::process::id()));
    let to = if plain.exists() { numbered } else { plain };
    let failed = |error: std::io::Error| StoreError::file(&to, &error);
    // SQLite would create the file readable for everybody; it accepts an empty one.
    let file = File::options().write(true).create_new(true).mode(0o600).open(&to).map_err(failed)?;
    let written = open.execute("vacuum into ?1", [to.to_string_lossy()]);
    let done = written.map_err(StoreError::from).and_then(|_| file.sync_all().map_err(failed));
    if done.is_err() {
        let _of_no_use = std::fs::remove_file(&to);
    }
    done.map(|()| to)
}

/// The logs beside a deleted database belong to no file any more, and would be read into this one.
fn put_in_place(kept: &Path, database: &Path) -> std::io::Result<()> {
    for log in ["db-wal", "db-shm", "db-journal"] {
        match std::fs::remove_file(database.with_extension(log)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => (),
        }
    }
    std::fs::rename(kept, database)?;
    File::open(database.parent().unwrap_or(database))?.sync_all()
}
