//! Whether there is room for another call: on the disk of the home, which takes its transcript and
//! the journal, and on that of the working tree, which takes its work. A call that is started on a
//! full disk costs money and leaves half a file.

use loop_base::text::bytes;
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::path::Path;

/// A transcript is rarely above 10 MB and a commit of the journal below 1 MB; 32 MiB let a call end
/// and its outcome be written down even when another program writes as well.
const LEAST_BYTES: u64 = 32 << 20;

/// A disk that is itself small has to have this part free instead.
const LEAST_PART: u64 = 20;

/// A call makes three files, and git a few more for what it did.
const LEAST_FILES: u64 = 64;

/// Says that nothing can be written into this working tree: a call would cost money and leave nothing.
pub fn read_only(tree: &Path) -> Option<String> {
    let is_read_only = statvfs(tree).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY));
    is_read_only.then(|| format!("the disk of {} is mounted for reading only", tree.display()))
}

/// Says which disk has no room for a call, if one has none.
pub fn full(home: &Path, tree: &Path) -> Option<String> {
    [home, tree].into_iter().find_map(|path| {
        let disk = statvfs(path).ok()?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let need = LEAST_BYTES.min(disk.f_blocks.saturating_mul(disk.f_frsize) / LEAST_PART);
        if free < need {
            let (free, need) = (bytes(free), bytes(need));
            return Some(format!("the disk of {} has {free} free; a call needs {need}", path.display()));
        }
        // Some file systems make room for files as they are needed, and say that they have none.
        if 0 < disk.f_files && disk.f_favail < LEAST_FILES {
            let free = disk.f_favail;
            return Some(format!("the disk of {} has room for {free} files only", path.display()));
        }
        None
    })
}
