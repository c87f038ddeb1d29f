//! One process as the kernel describes it in `/proc/PID/stat`, and the list of all of them. A pid
//! alone names nobody, so nothing here is a licence to signal anything; see `identity` for that.

use rustix::process::{Pid, getpid};
use std::fs;
use std::io;
use std::time::Duration;

/// The fields of `/proc/PID/stat` that supervision needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    pub pid: i32,
    pub name: String,
    pub state: char,
    pub parent: i32,
    /// Its process group and its session; 0 where the one who leads it is outside our pid namespace.
    pub group: i32,
    pub session: i32,
    /// Clock ticks after boot at which the process started; together with the pid and the boot it
    /// names one process forever.
    pub start: u64,
    /// Processor time of the process itself.
    pub own_cpu: Duration,
    /// Processor time of its children that have ended and were waited for.
    pub children_cpu: Duration,
}

impl Stat {
    /// Reads one process; `None` when there is no such process.
    pub fn read(pid: i32) -> io::Result<Option<Stat>> {
        // A name is any bytes, so the file need not be UTF-8. A process that goes between open and
        // read gives ESRCH, which std does not name.
        match fs::read(format!("/proc/{pid}/stat")) {
            Ok(bytes) => Ok(parse(&String::from_utf8_lossy(&bytes), rustix::param::clock_ticks_per_second())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads every process that this user may see; those that go meanwhile are left out.
    pub fn all() -> Vec<Stat> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|it| it.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid| Stat::read(pid).ok().flatten()).collect()
    }

    /// Returns whether the process has ended and only waits to be collected by its parent.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Returns the descendants of `root` among `all`, without `root` itself.
pub fn descendants(all: &[Stat], root: i32) -> Vec<&Stat> {
    let mut found: Vec<&Stat> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|it| it.parent == parent && it.pid != root) {
            // The list is no snapshot: a pid reused while it was read could close a circle.
            if !found.iter().any(|it| it.pid == child.pid) {
                found.push(child);
                parents.push(child.pid);
            }
        }
    }
    found
}

/// Returns the children of this process. Every thread has its own list of children, and orphans may
/// fall to any of them.
pub(crate) fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    let text = lists.collect::<Vec<String>>();
    if !text.is_empty() {
        return text.iter().flat_map(|it| it.split_ascii_whitespace()).filter_map(pid_of).collect();
    }
    // Kernels can be built without these lists.
    let me = getpid().as_raw_nonzero().get();
    Stat::all().iter().filter(|it| it.parent == me).filter_map(|it| Pid::from_raw(it.pid)).collect()
}

fn pid_of(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// The name may contain spaces, brackets and newlines, so fields are counted from the last bracket.
pub(crate) fn parse(text: &str, ticks_per_second: u64) -> Option<Stat> {
    let (head, tail) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once(" (")?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let cpu = |first: usize| {
        let ticks = number(first)? + number(first + 1)?;
        Some(Duration::from_millis(ticks * 1000 / ticks_per_second.max(1)))
    };
    Some(Stat {
        pid: pid.parse().ok()?,
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start: number(22)?,
        own_cpu: cpu(14)?,
        children_cpu: cpu(16)?,
    })
}

/// Returns what the kernel calls this boot.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Stat, descendants, parse};
    use std::time::Duration;

    #[test]
    fn a_name_may_look_like_fields() {
        let line = "42 (a) R 1 (b)) S 7 41 40 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 987654 1 2";
        let expected = Stat {
            pid: 42,
            name: "a) R 1 (b)".to_owned(),
            state: 'S',
            parent: 7,
            group: 41,
            session: 40,
            start: 987_654,
            own_cpu: Duration::from_secs(2),
            children_cpu: Duration::from_millis(500),
        };
        assert_eq!(parse(line, 100), Some(expected));
        assert_eq!(parse("42 (half", 100), None);
        assert_eq!(parse("", 100), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_circles_end() {
        let one = |pid, parent| Stat {
            pid,
            name: String::new(),
            state: 'S',
            parent,
            group: 0,
            session: 0,
            start: 0,
            own_cpu: Duration::ZERO,
            children_cpu: Duration::ZERO,
        };
        let all = [one(2, 1), one(3, 2), one(4, 3), one(5, 1), one(6, 7), one(7, 6)];
        let pids = |root| {
            let mut pids: Vec<i32> = descendants(&all, root).iter().map(|it| it.pid).collect();
            pids.sort_unstable();
            pids
        };
        assert_eq!(pids(2), [3, 4]);
        assert_eq!(pids(1), [2, 3, 4, 5]);
        assert_eq!(pids(6), [7]);
    }
}
