//! Files and folders that somebody else can put something in place of: opened without following
//! links and without waiting for a pipe, read only when they are plain files, and only so far; and
//! replaced as a whole.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path};

/// Opens a folder below `root`; every step of the way has to be a folder itself.
pub fn folder(root: &Path, inside: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let top = openat(rustix::fs::CWD, root, flags, Mode::empty())?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&top, inside, flags, Mode::empty(), resolve) {
            // Old kernels lack it, and some sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM) => (),
            answer => return answer,
        }
    }
    step_by_step(top, inside, flags)
}

fn step_by_step(top: OwnedFd, inside: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    inside.components().try_fold(top, |folder, part| match part {
        Component::Normal(name) => openat(&folder, name, flags, Mode::empty()),
        Component::CurDir => Ok(folder),
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => Err(Errno::XDEV),
    })
}

/// Returns the options to write a file of ours: nobody else may read it, a link in its place is not
/// followed, and a pipe in its place, which nobody reads, is an error and not waited for.
pub fn ours() -> OpenOptions {
    let mut options = File::options();
    options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    options
}

/// Reads a small plain file in a folder.
pub fn read_at(folder: impl AsFd, name: &str, most: usize) -> io::Result<Vec<u8>> {
    plain(folder, Path::new(name), OFlags::NOFOLLOW, most)
}

/// Opens a plain file for reading, to be read bit by bit; a link to one is a way to it.
pub fn open(path: &Path) -> io::Result<File> {
    opened(rustix::fs::CWD, path, OFlags::empty())
}

fn opened(folder: impl AsFd, path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let file = openat(folder, path, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is not a plain file"));
    }
    Ok(File::from(file))
}

fn plain(folder: impl AsFd, path: &Path, more: OFlags, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(folder, path, more)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if most < bytes.len() {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    Ok(bytes)
}

/// No text that people or agents write for us is longer; what is, is data.
const TEXT_MOST: usize = 16 << 20;

/// Reads a text that somebody may have put in place by a link, which is theirs to do; a pipe or a
/// device in its place is not waited for.
pub fn text(path: &Path) -> io::Result<String> {
    let bytes = plain(rustix::fs::CWD, path, OFlags::empty(), TEXT_MOST)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The same for anything.
pub fn bytes(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    plain(rustix::fs::CWD, path, OFlags::empty(), most)
}

/// Creates a folder that only its owner may enter, with those above it that are missing.
pub fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Copies a file into a folder of ours; the copy is readable by its owner only.
pub fn copy_private(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::copy(from, to)?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o600))
}

/// Removes whatever has this name, a folder with all that is in it; a link is removed and not followed.
pub fn remove_any(path: &Path) -> io::Result<()> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        // Where a folder of ours was is something else, so nothing has this name.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        other => other,
    }
}

/// Reads a small file that must be no link, by its path.
pub fn read(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    plain(rustix::fs::CWD, path, OFlags::NOFOLLOW, most)
}

/// Replaces a file as a whole. It is not synced: this is for what can be made again. Several processes
/// may do it at once.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_bytes(path, text.as_bytes())
}

/// The same for what may be no text.
pub fn replace_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_beside(path, &format!(".{}.tmp", std::process::id()), bytes, |_| Ok(()))
}

/// The same for a file of ours, which nobody else may read. No folder of ours has its name: one that is
/// there was made by an agent, and goes.
pub fn replace_ours(path: &Path, text: &str) -> io::Result<()> {
    replace_ours_bytes(path, text.as_bytes())
}

/// The same for what may be no text.
pub fn replace_ours_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|it| it.is_dir()) {
        remove_any(path)?;
    }
    replace_beside(path, &format!(".{}.tmp", std::process::id()), bytes, |beside| {
        beside.set_permissions(std::fs::Permissions::from_mode(0o600))
    })
}

/// What is written over is shorter than this.
const OVERWRITTEN_MOST: u64 = 4096;

/// Writes a small file of ours over the one that is there. Where many files are made and removed, each new one
/// costs more than what is in it, so this makes none. What is left of a longer text becomes blanks.
pub fn overwrite_ours(path: &Path, text: &str) -> io::Result<()> {
    let Some((file, length)) = written_over(path)? else { return replace_ours(path, text) };
    let blanks = usize::try_from(length).map_err(io::Error::other)?.saturating_sub(text.len());
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() + blanks, b' ');
    file.write_all_at(&bytes, 0)
}

/// Opens a file of ours to be written over, and says how long it is; nothing where it is none of ours.
fn written_over(path: &Path) -> io::Result<Option<(File, u64)>> {
    // A pipe in its place would wait for a reader.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let Ok(file) = File::options().write(true).custom_flags(flags).open(path) else { return Ok(None) };
    let meta = file.metadata()?;
    // Under a second name it may be somebody else's, and one of this size is none of ours.
    let is_ours = meta.is_file() && meta.nlink() == 1 && meta.len() <= OVERWRITTEN_MOST;
    Ok(is_ours.then_some((file, meta.len())))
}

/// Replaces a person's own file: its mode is kept, and the text survives a power loss. The file beside
/// it always has the same name, so that one which a killed controller left goes with the next.
pub fn replace_for_good(path: &Path, text: &str) -> io::Result<()> {
    replace_beside(path, ".tmp", text.as_bytes(), |beside| {
        if let Ok(meta) = std::fs::metadata(path) {
            beside.set_permissions(meta.permissions())?;
        }
        beside.sync_data()
    })
}

fn replace_beside(
    path: &Path,
    suffix: &str,
    bytes: &[u8],
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    let beside = path.with_file_name(name);
    // Whatever an agent has put there, a link is not followed.
    let _may_be_absent = std::fs::remove_file(&beside);
    let file = File::options().write(true).create_new(true).open(&beside);
    let written = file.and_then(|mut it| {
        it.write_all(bytes)?;
        settle(&it)
    });
    let done = written.and_then(|()| std::fs::rename(&beside, path));
    if done.is_err() {
        let _may_be_absent = std::fs::remove_file(&beside);
    }
    done
}

/// Makes everything on the disk of this file durable.
pub fn everything(file: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(file)?;
    #[cfg(not(target_os = "linux"))]
    file.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g19_no_link_is_followed_on_either_way() {
        let root = tempfile::tempdir().expect("a folder");
        let top = root.path().canonicalize().expect("a path");
        std::fs::create_dir_all(top.join("a/b")).expect("folders");
        std::os::unix::fs::symlink("a", top.join("link")).expect("a link");
        std::os::unix::fs::symlink("b", top.join("a/to-b")).expect("a link");
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let open = || openat(rustix::fs::CWD, &top, flags, Mode::empty()).expect("open");
        for (path, works) in
            [("a/b", true), ("link/b", false), ("a/to-b", false), ("../a", false), ("a/none", false)]
        {
            assert_eq!(folder(&top, Path::new(path)).is_ok(), works, "{path}");
            assert_eq!(step_by_step(open(), Path::new(path), flags).is_ok(), works, "{path}");
        }
    }

    /// What an agent can put in the way of a file of ours neither stops us for ever nor for good.
    #[test]
    fn g35_a_pipe_is_not_waited_for_and_a_folder_is_replaced() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a pipe");
        assert!(ours().create(true).append(true).open(path("pipe")).is_err());
        std::fs::create_dir_all(path("folder/below")).expect("folders");
        for name in ["folder", "pipe", "new"] {
            replace_ours(&path(name), "text").expect("replaced");
            assert_eq!(std::fs::read_to_string(path(name)).expect("a file"), "text", "{name}");
        }
    }

    #[test]
    fn g35_a_pipe_a_link_and_a_long_file_are_not_read() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        std::fs::write(path("file"), b"text").expect("written");
        std::os::unix::fs::symlink("file", path("link")).expect("a link");
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a pipe");
        assert_eq!(read(&path("file"), 4).expect("read"), b"text");
        for (name, most) in [("file", 3), ("link", 9), ("pipe", 9), (".", 9), ("none", 9)] {
            assert!(read(&path(name), most).is_err(), "{name}");
        }
    }

    #[test]
    fn a_small_file_is_written_over_and_what_is_not_ours_is_replaced() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        let inode = |name: &str| std::fs::symlink_metadata(path(name)).expect("a file").ino();
        overwrite_ours(&path("file"), "longer").expect("written");
        let first = inode("file");
        overwrite_ours(&path("file"), "short").expect("written");
        assert_eq!(
            (read(&path("file"), 9).expect("read").as_slice(), inode("file")),
            (&b"short "[..], first)
        );
        overwrite_ours(&path("file"), "the longest").expect("written");
        assert_eq!(read(&path("file"), 20).expect("read"), b"the longest");
        assert_eq!(std::fs::metadata(path("file")).expect("a file").mode() & 0o777, 0o600);
        // What an agent puts in its place is neither followed nor waited for.
        std::fs::write(path("other"), "somebody's").expect("written");
        std::os::unix::fs::symlink("other", path("link")).expect("a link");
        std::fs::hard_link(path("other"), path("second name")).expect("a link");
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a pipe");
        for name in ["link", "second name", "pipe"] {
            overwrite_ours(&path(name), "ours").expect("written");
            assert_eq!(read(&path(name), 4).expect("read"), b"ours", "{name}");
        }
        assert_eq!(read(&path("other"), 20).expect("read"), b"somebody's");
    }
}
