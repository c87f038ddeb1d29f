//! What is kept back from agents, so that one that goes wild leaves room for everybody else: no core
//! dumps, and a limit on processes where no control group sets one. Limits are inherited, so they are
//! set on this process while a child is made, and nothing runs between fork and exec.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;

/// More processes and threads than a parallel build with browser tests has, and few enough that a
/// machine survives them.
const PROCESSES: u64 = 4096;

/// A core dump of an agent holds its prompt and its keys, and fills the disk.
pub(crate) fn no_core_dumps() {
    // It can only be lowered, which nobody forbids.
    let _cannot_fail = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

/// A limit that is in force until this is dropped.
pub(crate) struct Spared {
    usual: Rlimit,
}

/// Lets a child and everything that it starts add at most so many processes to those that there are.
/// The kernel counts all processes of a user, so what there is now is counted first; only the soft
/// limit is set, because this process needs its own again.
pub(crate) fn spare_processes(limit: u64) -> Option<Spared> {
    let usual = getrlimit(Resource::Nproc);
    let limit = if limit == u64::MAX { PROCESSES } else { limit };
    let wanted = threads()?.saturating_add(limit);
    let wanted = usual.current.map_or(wanted, |it| it.min(wanted));
    setrlimit(Resource::Nproc, Rlimit { current: Some(wanted), ..usual }).ok()?;
    Some(Spared { usual })
}

impl Drop for Spared {
    fn drop(&mut self) {
        let _was_in_force_before = setrlimit(Resource::Nproc, self.usual);
    }
}

/// How many threads there are on this machine, as the fourth word of `/proc/loadavg` says. That is more
/// than this user has, and costs one short read.
fn threads() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}
