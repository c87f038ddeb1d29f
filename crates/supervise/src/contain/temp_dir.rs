//! The folder for temporary files of a run's calls, `TMPDIR` to them. It is made once by the shim,
//! is empty when a call starts, and is emptied when everything that the call started has ended; the
//! shim removes it when it goes, and the next controller does when the shim could not.
//!
//! It lies where the user's temporary files lie and has a short name, not in the run's folder: the
//! address of a unix socket has 108 bytes, and the path of a run already takes most of them. Nothing
//! here follows a symbolic link, so what a call leaves can only cost its own files.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RawMode, RenameFlags, chmod, fstat, openat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The start of its name, by which people and the next controller know it.
const PREFIX: &str = "loop-";

/// The bytes of a path in the folder that are left to a call: a socket's address less the longest
/// names that are seen in practice, as `vscode-ipc-` and a UUID, or `ssh-XXXXXXXXXX/agent.NNNNNNN`.
const PATH_MOST: usize = 108 - 60;

/// A million files are removed within this time; a call that left more is told so, and what is left
/// goes with the folder.
const TIME_MOST: Duration = Duration::from_secs(10);

/// Such a folder. The name alone is no proof that it is ours: the file that names it may be damaged,
/// and other programs make folders too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scratch {
    path: PathBuf,
    inode: u64,
}

impl Scratch {
    /// Makes the folder below the first of these that can be used.
    pub fn make() -> io::Result<Scratch> {
        let usual = std::env::temp_dir();
        // The place is written down as text.
        let is_fit = |it: &PathBuf| {
            it.is_absolute() && it.to_str().is_some_and(|it| it.len() + PREFIX.len() + 9 <= PATH_MOST)
        };
        let places = [Some(usual).filter(is_fit), Some("/tmp".into()), Some("/var/tmp".into())];
        let mut trouble = io::Error::other("there is no folder for temporary files");
        for place in places.into_iter().flatten() {
            match Scratch::below(&place) {
                Ok(scratch) => return Ok(scratch),
                Err(error) => trouble = error,
            }
        }
        Err(trouble)
    }

    fn below(place: &Path) -> io::Result<Scratch> {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let path = place.join(format!("{PREFIX}{}", &name[..8]));
        // Never one that is there already, not even through a link.
        DirBuilder::new().mode(0o700).create(&path)?;
        let inode = path.symlink_metadata()?.ino();
        Ok(Scratch { path, inode })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that the next call finds an empty folder; an earlier one may have removed it.
    pub fn renew(&mut self) -> io::Result<()> {
        match self.open()? {
            Some(folder) => empty(&folder, Instant::now() + TIME_MOST),
            None => {
                let place = self.path.parent().unwrap_or(Path::new("/tmp"));
                *self = Scratch::below(place)?;
                Ok(())
            }
        }
    }

    /// Removes what is in it, within limits.
    pub fn empty(&self) -> io::Result<()> {
        self.open()?.map_or(Ok(()), |it| empty(&it, Instant::now() + TIME_MOST))
    }

    /// Removes it with everything in it.
    pub fn remove(&self) -> io::Result<()> {
        let Some(folder) = self.open()? else { return Ok(()) };
        empty(&folder, Instant::now() + 6 * TIME_MOST)?;
        Ok(unlinkat(CWD, &self.path, AtFlags::REMOVEDIR)?)
    }

    /// Opens the folder if it is the one that was made; `None` when that is gone.
    fn open(&self) -> io::Result<Option<OwnedFd>> {
        let is_named =
            self.path.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(PREFIX));
        if !is_named {
            return Ok(None);
        }
        let folder = match reach(CWD, &self.path) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = fstat(&folder)?;
        let is_ours = found.st_ino == self.inode && found.st_uid == geteuid().as_raw();
        if is_ours { Ok(Some(unlock(&folder)?)) } else { Ok(None) }
    }
}

/// Empties a folder without recursion, so that no depth is too deep: what is two levels down is moved
/// one level up, until there is only one.
fn empty(top: &OwnedFd, deadline: Instant) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        let names = entries(top)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in &names {
            if Instant::now() >= deadline {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "there are too many of them"));
            }
            if !is_folder(top, name)? {
                remove(top, name, AtFlags::empty())?;
                continue;
            }
            let folder = unlock(&reach(top, name.as_c_str())?)?;
            for inner in entries(&folder)? {
                if is_folder(&folder, &inner)? {
                    // A folder that may not be written to cannot change its parent.
                    drop(unlock(&reach(&folder, inner.as_c_str())?)?);
                    lift(&folder, &inner, top, &mut moved)?;
                } else {
                    remove(&folder, &inner, AtFlags::empty())?;
                }
            }
            remove(top, name, AtFlags::REMOVEDIR)?;
        }
    }
}

fn lift(from: &OwnedFd, name: &CStr, top: &OwnedFd, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        match renameat_with(from, name, top, format!(".lifted-{moved}"), RenameFlags::NOREPLACE) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn entries(folder: &OwnedFd) -> io::Result<Vec<std::ffi::CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

fn is_folder(parent: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(rustix::fs::FileType::from_raw_mode(found.st_mode as RawMode).is_dir()),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn remove(parent: &OwnedFd, name: &CStr, flags: AtFlags) -> io::Result<()> {
    match unlinkat(parent, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(io::Error::new(
            io::Error::from(error).kind(),
            format!("{} stays: {error}", name.to_string_lossy()),
        )),
    }
}

/// A handle on the folder itself, whatever its mode.
fn reach<P: rustix::path::Arg>(parent: impl AsFd, name: P) -> rustix::io::Result<OwnedFd> {
    openat(parent, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a folder for reading after giving its owner every right to it. The mode is set through the
/// handle, because by name it could be set on what a link points to.
fn unlock(handle: &OwnedFd) -> io::Result<OwnedFd> {
    let open = || openat(handle, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let is_closed = fstat(handle)?.st_mode & 0o700 != 0o700;
    if is_closed {
        chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)?;
    }
    Ok(open()?)
}

#[cfg(test)]
mod tests {
    use super::Scratch;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_resists_is_removed_and_nothing_else() {
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("kept"), "precious").expect("written");
        let mut scratch = Scratch::make().expect("a folder");
        let path = scratch.path().to_owned();
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o700);
        symlink(outside.path(), path.join("out")).expect("a link");
        fs::create_dir_all(path.join("a/b/c")).expect("folders");
        fs::write(path.join("a/b/c/file"), "x").expect("written");
        symlink(outside.path(), path.join("a/b/out")).expect("a link");
        for (folder, mode) in [("a/b/c", 0o000), ("a/b", 0o500), ("a", 0o555)] {
            fs::set_permissions(path.join(folder), fs::Permissions::from_mode(mode)).expect("a mode");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("a mode");
        scratch.empty().expect("emptied");
        assert_eq!(fs::read_dir(&path).expect("there").count(), 0);
        scratch.renew().expect("there");
        assert_eq!(scratch.path(), path);
        scratch.remove().expect("removed");
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(outside.path().join("kept")).expect("there"), "precious");
    }

    #[test]
    fn no_depth_is_too_deep() {
        let scratch = Scratch::make().expect("a folder");
        let mut folder = rustix::fs::open(
            scratch.path(),
            rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )
        .expect("opened");
        for _ in 0..3_000 {
            rustix::fs::mkdirat(&folder, "d", rustix::fs::Mode::RWXU).expect("made");
            folder = super::reach(&folder, "d").expect("reached");
        }
        drop(folder);
        scratch.remove().expect("removed");
        assert!(!scratch.path().exists());
    }

    #[test]
    fn a_stranger_at_its_place_is_left_alone() {
        let mut scratch = Scratch::make().expect("a folder");
        let path = scratch.path().to_owned();
        let elsewhere = path.with_extension("elsewhere");
        fs::rename(&path, &elsewhere).expect("moved");
        fs::create_dir(&path).expect("a stranger");
        fs::write(path.join("kept"), "").expect("written");
        scratch.remove().expect("nothing to remove");
        scratch.renew().expect("another one");
        assert!(path.join("kept").exists() && scratch.path() != path);
        scratch.remove().expect("removed");
        fs::remove_dir_all(&path).expect("ours");
        fs::remove_dir_all(&elsewhere).expect("ours");
    }
}
