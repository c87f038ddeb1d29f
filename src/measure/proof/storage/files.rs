//! Copies, compares, fingerprints and removes whole folders. Nothing here follows a symbolic link:
//! links are copied as they are, and pipes, sockets and devices are left out. Every copy is made of
//! new inodes, so writing to it never changes its source; on file systems that share extents between
//! files the kernel does so by itself in `copy_file_range`, which `fs::copy` uses.

use sha2::{Digest, Sha256};
use std::fs::{self, FileTimes, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// How many bytes a proof may still write.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new(bytes: u64) -> Budget {
        Budget { left: bytes }
    }

    pub(crate) fn take(&mut self, bytes: u64) -> io::Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(io::Error::new(
                ErrorKind::StorageFull,
                "a proof may write 20 GB or a fifth of the disk, and that is used up",
            )),
        }
    }
}

/// Copies a folder with the modes and times of its files. `skips` gets paths relative to `from`.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    skips: &dyn Fn(&Path) -> bool,
    budget: &mut Budget,
) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for (inside, metadata) in walk(from, skips)? {
        let (source, target) = (from.join(&inside), to.join(&inside));
        if metadata.is_dir() {
            fs::create_dir_all(&target)?;
        } else if metadata.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else if metadata.is_file() {
            budget.take(metadata.len())?;
            copy_file(&source, &target, &metadata)?;
        }
    }
    Ok(())
}

/// Copies one file with its mode and time.
pub(crate) fn copy_file(source: &Path, target: &Path, metadata: &Metadata) -> io::Result<()> {
    fs::copy(source, target)?;
    let times = FileTimes::new().set_modified(metadata.modified()?);
    match fs::File::options().write(true).open(target) {
        Ok(file) => file.set_times(times),
        // A file without the right to write, as Go's modules are.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => fs::File::open(target)?.set_times(times),
        Err(error) => Err(error),
    }
}

/// Everything below a folder, folders before what is in them, in the order of their names. What
/// vanishes while it is read was not there.
pub(crate) fn walk(top: &Path, skips: &dyn Fn(&Path) -> bool) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let mut names = fs::read_dir(top.join(&folder))?
            .map(|it| it.map(|it| it.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        for name in names {
            let inside = folder.join(name);
            if skips(&inside) {
                continue;
            }
            let metadata = match fs::symlink_metadata(top.join(&inside)) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if metadata.is_dir() {
                folders.push(inside.clone());
            }
            found.push((inside, metadata));
        }
    }
    Ok(found)
}

/// A digest of path, size, times and inode of everything below a folder. The change time is the
/// kernel's own, so two equal fingerprints are of the same contents.
pub(crate) fn fingerprint(top: &Path, skips: &dyn Fn(&Path) -> bool) -> io::Result<String> {
    let mut entries = walk(top, skips)?;
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    let mut digest = Sha256::new();
    for (inside, metadata) in entries {
        digest.update(inside.as_os_str().as_bytes());
        digest.update([0]);
        digest.update(metadata.mode().to_ne_bytes());
        // The times of a folder change with what is left out of it.
        if !metadata.is_dir() {
            digest.update(stamp(&metadata).as_bytes());
        }
    }
    Ok(hex(&digest.finalize()))
}

/// What the kernel says about the contents of a file.
pub(crate) fn stamp(metadata: &Metadata) -> String {
    format!(
        "{}.{}.{}.{}.{}.{}",
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.ino()
    )
}

/// Whether two folders hold the same files, links and bytes.
pub(crate) fn same(one: &Path, other: &Path, skips: &dyn Fn(&Path) -> bool) -> io::Result<bool> {
    let (mut left, mut right) = (walk(one, skips)?, walk(other, skips)?);
    left.sort_by(|one, other| one.0.cmp(&other.0));
    right.sort_by(|one, other| one.0.cmp(&other.0));
    if left.len() != right.len() {
        return Ok(false);
    }
    for ((path, found), (other_path, expected)) in left.iter().zip(&right) {
        let is_alike = path == other_path
            && found.file_type() == expected.file_type()
            && (found.is_dir() || found.len() == expected.len())
            && (found.is_symlink() || found.mode() & 0o111 == expected.mode() & 0o111);
        let (one, other) = (one.join(path), other.join(path));
        let is_same = is_alike
            && (!found.is_symlink() || fs::read_link(&one)? == fs::read_link(&other)?)
            && (!found.is_file() || hash_file(&one)? == hash_file(&other)?);
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(crate) fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = loop_base::files::open(path)?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 128 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(&digest.finalize())),
            count => digest.update(&chunk[..count]),
        }
    }
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of all files below a folder.
pub(crate) fn weigh(top: &Path) -> u64 {
    let found = walk(top, &|_| false).unwrap_or_default();
    found.iter().filter(|(_, it)| it.is_file()).map(|(_, it)| it.len()).sum()
}

/// Removes a folder or file with everything in it, also where its owner lacks the right to write.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.is_dir() => return fs::remove_file(path),
        Ok(_) => (),
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            unlock(path)?;
            fs::remove_dir_all(path)
        }
        done => done,
    }
}

fn unlock(top: &Path) -> io::Result<()> {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Writes a file so that it is there whole or not at all, also after a power cut.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = loop_base::files::ours().write(true).create(true).truncate(true).open(&unfinished)?;
    file.write_all(content)?;
    file.sync_data()?;
    fs::rename(&unfinished, path)?;
    fs::File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}
