//! A control group of the run's own, where the machine gives us one: the shim moves into a fresh
//! group before its first call, so that everything a call starts is born in it, and no call pays for
//! a move. Nobody leaves a group by forking, by a new session or by clearing an environment, so the
//! group still names the agent's processes when shim and controller are both dead. The kernel can end
//! a whole group at once, and limit its memory and processes where those controllers were handed to
//! us. Without a group everything else works as before, and the reason is written down.

use crate::process::git_maintenance::is_git_maintenance;
use crate::process::proc_stat::Stat;
use crate::records::protocol::{Bounds, Survivor};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{geteuid, getpid};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel ends a group within milliseconds; what is there after this is held by it.
const DEATH: Duration = Duration::from_secs(5);

/// A group that this process is in, and in which it starts others.
pub struct Cgroup {
    path: PathBuf,
    /// Where this process came from, and goes while the group is ended.
    home: PathBuf,
    members: File,
    /// The limits in force, of memory and of processes.
    limits: [u64; 2],
}

impl Cgroup {
    /// Makes the group of this name below our own and moves this process into it, or says why there
    /// is none.
    pub fn join(name: &str) -> Result<Cgroup, String> {
        let home = own().map_err(|error| format!("there is no control group: {error}"))?;
        let path = home.join(name);
        fs::create_dir(&path).map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        let joined = File::open(path.join("cgroup.procs")).and_then(|members| {
            enter(&path)?;
            Ok(members)
        });
        match joined {
            Ok(members) => Ok(Cgroup { path, home, members, limits: [u64::MAX; 2] }),
            Err(error) => {
                let _was_empty = fs::remove_dir(&path);
                Err(format!("{} cannot be entered: {error}", path.display()))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets what the next call may use; returns what could not be limited.
    pub fn limit(&mut self, bounds: &Bounds) -> Option<String> {
        let limits = [bounds.memory_bytes, bounds.processes];
        if self.limits == limits {
            return None;
        }
        self.limits = limits;
        // Our own group may hold other processes, and then it cannot hand anything on.
        let _if_it_may = write(&self.home.join("cgroup.subtree_control"), "+memory +pids");
        let mut refused = Vec::new();
        for (file, limit) in ["memory.max", "pids.max"].into_iter().zip(limits) {
            let text = if limit == u64::MAX { "max".to_owned() } else { limit.to_string() };
            if write(&self.path.join(file), &text).is_err() && limit != u64::MAX {
                refused.push(file);
            }
        }
        // What may not grow any more should not move to the disk instead; without swap there is no
        // such file.
        let swap = if limits[0] == u64::MAX { "max" } else { "0" };
        let _if_there_is_one = write(&self.path.join("memory.swap.max"), swap);
        (!refused.is_empty()).then(|| format!("{} is not ours to set", refused.join(" and ")))
    }

    /// Ends everything else in the group; returns how many there were, without those that git
    /// runs for itself, and who could not be ended.
    pub(crate) fn end_others(&self) -> (u32, Vec<Survivor>) {
        let others = self.others();
        if others.is_empty() {
            return (0, Vec::new());
        }
        let told: Vec<i32> = others.into_iter().filter(|it| !is_git_maintenance(*it)).collect();
        // A group is ended as a whole, so this process steps out of it meanwhile.
        if enter(&self.home).is_ok() {
            let _seen_below = kill(&self.path);
            let _seen_below = enter(&self.path);
        }
        let left = self.others();
        let ended = told.iter().filter(|it| !left.contains(it)).count();
        (u32::try_from(ended).unwrap_or(u32::MAX), left.into_iter().filter_map(name).collect())
    }

    /// Leaves the group and removes it.
    pub fn leave(self) {
        if enter(&self.home).is_ok() {
            remove(&self.path);
        }
    }

    /// Everybody in the group but this process. Groups below it are an agent's own doing; who is in
    /// one of those is a descendant of ours, and swept as such.
    fn others(&self) -> Vec<i32> {
        let me = getpid().as_raw_nonzero().get();
        let mut text = Vec::new();
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = self.members.read_at(&mut bytes, text.len() as u64) {
            text.extend_from_slice(&bytes[..count]);
        }
        let text = String::from_utf8_lossy(&text);
        text.lines().filter_map(|it| it.parse().ok()).filter(|it| *it != me).collect()
    }
}

/// Ends everything in a group that a dead shim of ours left, and removes it. `name` is what the group
/// must be called: the file that names its path may be forged, and other groups are none of ours.
pub fn clear(path: &Path, name: &str) -> Vec<Survivor> {
    let is_ours = path.file_name().is_some_and(|it| it == name)
        && fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw())
        && is_cgroup(path)
        && !own().is_ok_and(|it| it.starts_with(path));
    if !is_ours {
        return Vec::new();
    }
    let _seen_below = kill(path);
    let members = members(path);
    remove(path);
    members.into_iter().filter_map(self::name).collect()
}

/// Everybody in a group and in the groups that an agent made below it.
fn members(path: &Path) -> Vec<i32> {
    let text = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let mut found: Vec<i32> = text.lines().filter_map(|it| it.parse().ok()).collect();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            found.extend(members(&entry.path()));
        }
    }
    found
}

fn name(pid: i32) -> Option<Survivor> {
    let stat = Stat::read(pid).ok()??;
    (!stat.is_dead()).then(|| Survivor::of(&stat))
}

fn is_cgroup(path: &Path) -> bool {
    /// `CGROUP2_SUPER_MAGIC` of the kernel.
    const MAGIC: u64 = 0x6367_7270;
    rustix::fs::statfs(path).is_ok_and(|it| it.f_type as u64 == MAGIC)
}

/// Ends a group as a whole and waits until nobody is in it.
fn kill(path: &Path) -> io::Result<()> {
    if write(&path.join("cgroup.kill"), "1").is_err() {
        // Kernels before 5.14 cannot; frozen, nobody forks while the members are ended one by one.
        let _best_effort = write(&path.join("cgroup.freeze"), "1");
        for pid in fs::read_to_string(path.join("cgroup.procs"))?.lines() {
            let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
            let _may_be_gone = pid.map(|it| rustix::process::kill_process(it, rustix::process::Signal::KILL));
        }
        let _best_effort = write(&path.join("cgroup.freeze"), "0");
    }
    let events = File::open(path.join("cgroup.events"))?;
    let deadline = Instant::now() + DEATH;
    loop {
        let mut bytes = [0; 256];
        let count = events.read_at(&mut bytes, 0)?;
        let is_empty = String::from_utf8_lossy(&bytes[..count]).lines().any(|it| it == "populated 0");
        let rest = deadline.saturating_duration_since(Instant::now());
        if is_empty || rest.is_zero() {
            return Ok(());
        }
        let timeout = Timespec::try_from(rest).expect("five seconds fit");
        // The kernel tells of every change of this file.
        let _looked_at_above = poll(&mut [PollFd::new(&events, PollFlags::PRI)], Some(&timeout));
    }
}

/// A group is removed from its leaves up; what is in use stays.
fn remove(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            remove(&entry.path());
        }
    }
    let _in_use = fs::remove_dir(path);
}

fn enter(group: &Path) -> io::Result<()> {
    write(&group.join("cgroup.procs"), "0")
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    File::options().write(true).open(path)?.write_all(text.as_bytes())
}

/// The folder of the group that this process is in.
fn own() -> io::Result<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    place(&groups, &mounts).ok_or_else(|| io::Error::other("no cgroup2 is mounted"))
}

/// A line of `mountinfo` names the part of the tree that is mounted, and where.
fn place(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = Path::new(groups.lines().find_map(|it| it.strip_prefix("0::"))?);
    mounts.lines().find_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let below = group.strip_prefix(root).ok()?;
        // An escaped character in the path of a mount is not worth a parser.
        (filesystem.starts_with("cgroup2 ") && !point.contains('\\')).then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::{clear, place};
    use std::path::{Path, PathBuf};

    #[test]
    fn the_own_group_is_found_below_its_mount() {
        let hybrid = "35 34 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let at = |groups: &str, mounts: &str| place(groups, mounts);
        assert_eq!(at("4:memory:/x\n0::/\n", hybrid), Some("/sys/fs/cgroup/unified/".into()));
        assert_eq!(
            at("0::/user.slice/a.scope\n", "1 2 0:3 / /sys/fs/cgroup rw shared:4 - cgroup2 none rw\n"),
            Some(PathBuf::from("/sys/fs/cgroup/user.slice/a.scope"))
        );
        let part = "1 2 0:3 /box /sys/fs/cgroup rw - cgroup2 none rw\n";
        assert_eq!(at("0::/box/in\n", part), Some("/sys/fs/cgroup/in".into()));
        assert_eq!(at("0::/elsewhere\n", part), None);
        assert_eq!(at("4:memory:/x\n", hybrid), None);
        assert_eq!(at("0::/\n", "1 2 0:3 / /tmp rw - tmpfs none rw\n"), None);
    }

    #[test]
    fn a_path_that_is_no_group_of_ours_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("loop-x-1");
        std::fs::create_dir(&folder).expect("made");
        for (path, name) in [(folder.as_path(), "loop-x-1"), (Path::new("/sys/fs/cgroup"), "loop-x-1")] {
            assert_eq!(clear(path, name), []);
        }
        assert!(folder.exists());
    }
}
