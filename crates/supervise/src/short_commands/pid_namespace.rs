//! A PID namespace for a call, by the system's own `unshare`: when its first process ends, the kernel ends
//! everything in it, whatever it did to hide. Not every kernel grants one to every user, so it is tried
//! before it is used.

use crate::short_commands::foreground;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The words that make a namespace. For root no user namespace is needed, and setuid programs work on.
const ROOT: [&str; 5] = ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"];
const ORDINARY: [&str; 7] =
    ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"];

const PROBE_MOST: Duration = Duration::from_secs(10);

/// Whether programs that change the user work in it: not in a user namespace that only knows one user.
pub fn keeps_setuid() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the words to put before a command, or `None` where no namespace is granted.
pub fn words() -> Option<Vec<OsString>> {
    let words: &[&str] = if rustix::process::geteuid().is_root() { &ROOT } else { &ORDINARY };
    let probe = words[1..].iter().copied().chain(["--", "true"]);
    let is_granted =
        foreground::run(words[0], probe, Path::new("/"), Vec::new(), PROBE_MOST).is_ok_and(|it| it.is_done);
    is_granted.then(|| words.iter().copied().chain(["--"]).map(OsString::from).collect())
}
