//! Who is alive and was started below a folder: by the environment, by the command line, or by where
//! the process is.

use crate::within;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns the live processes of a folder, with their command lines; the test itself is none of them.
pub fn alive_below(root: &Path) -> Vec<(i32, String)> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| *pid != std::process::id().cast_signed())
        .filter_map(|pid| Some((pid, line_of_ours(pid, root)?)))
        .collect()
}

fn line_of_ours(pid: i32, root: &Path) -> Option<String> {
    let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let stat = fs::read_to_string(of("stat")).ok()?;
    let is_dead = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
    // With the slash: the name of one folder may begin with that of another.
    let mark = [root.as_os_str().as_bytes(), b"/"].concat();
    let is_marked = |it: &[u8]| it.windows(mark.len()).any(|it| it == mark);
    let line = fs::read(of("cmdline")).unwrap_or_default();
    let is_ours = is_marked(&line)
        || fs::read(of("environ")).is_ok_and(|it| is_marked(&it))
        || fs::read_link(of("cwd")).is_ok_and(|it| it.starts_with(root));
    (!is_dead && is_ours).then(|| String::from_utf8_lossy(&line).replace('\0', " "))
}

/// Whatever ends needs a moment to be gone; what is there after some seconds was left behind.
#[track_caller]
pub(crate) fn assert_nothing_runs_below(root: &Path) {
    let gone = within(Duration::from_secs(5), || alive_below(root).is_empty());
    assert!(gone, "left running: {:?}", alive_below(root));
}
