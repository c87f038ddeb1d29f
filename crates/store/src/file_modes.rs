//! The modes of the files in a home: their owner may read and write them, and nobody else. Whoever
//! restores a backup or copies a home by hand often brings other modes along. What builds and checkouts
//! leave below `proof` and `trees` has the modes of its own tools and lies in folders that nobody else
//! can enter, so only the folders themselves are looked at there.

use crate::home::{OURS, RUNS};
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the files and folders of a home that others may use, or that their owner may not.
pub fn wrong_modes(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let _unreadable = each(home, &mut |path, meta| {
        if meta.permissions().mode() & 0o777 != right(meta) {
            found.push(path.to_owned());
        }
        Ok(())
    });
    found
}

/// Gives them the right modes, and returns how many had another.
pub fn set_right_modes(home: &Path) -> io::Result<usize> {
    let mut count = 0;
    each(home, &mut |path, meta| {
        if meta.permissions().mode() & 0o777 != right(meta) {
            fs::set_permissions(path, Permissions::from_mode(right(meta)))?;
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}

/// The owner's right to execute a file is kept.
fn right(meta: &Metadata) -> u32 {
    if meta.is_dir() { 0o700 } else { 0o600 | meta.permissions().mode() & 0o100 }
}

type FileVisitor<'a> = &'a mut dyn FnMut(&Path, &Metadata) -> io::Result<()>;

/// Visits what is ours in a home, each folder before what is in it. The home itself may be somebody
/// else's folder and is left alone, and so are links.
fn each(home: &Path, visit: FileVisitor<'_>) -> io::Result<()> {
    for name in OURS {
        let path = home.join(name);
        visit_one(&path, visit)?;
        if name == RUNS {
            for run in folders(&path)? {
                visit_one(&run, visit)?;
                for inside in folders(&run)? {
                    visit_one(&inside, visit)?;
                }
            }
        }
    }
    Ok(())
}

fn visit_one(path: &Path, visit: FileVisitor<'_>) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() || meta.is_file() => visit(path, &meta),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn folders(path: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::read_dir(path)?.map(|it| it.map(|it| it.path())).collect(),
        Ok(_) | Err(_) => Ok(Vec::new()),
    }
}
