//! A home that may not be written, and one that is full.

use loop_harness::{COMMIT, Done, PROMISE, Sandbox, program, skipped};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

/// The usual number of a user who owns nothing.
const NOBODY: u32 = 65534;

#[test]
fn g07_a_home_that_may_not_be_written_is_named() {
    const NAME: &str = "g07_a_home_that_may_not_be_written_is_named";
    if !rustix::process::geteuid().is_root() {
        return skipped(NAME, "needs root, to become somebody else");
    }
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    std::fs::create_dir(&sandbox.home).expect("a home");
    give_to_nobody(sandbox.root());
    chown(&sandbox.home, Some(0), Some(0)).expect("root's");
    std::fs::set_permissions(&sandbox.home, std::fs::Permissions::from_mode(0o555)).expect("a mode");
    let mut command = Command::new("setpriv");
    sandbox.furnish(&mut command);
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", program()]);
    command.args(["run", "it", "--agent-cmd", &agent, "--check", "tests=true"]).current_dir(&sandbox.project);
    let done: Done = sandbox.start(command).wait();
    if done.err.contains("setpriv") || done.code == 127 {
        return skipped(NAME, &done.err);
    }
    let done = done.exits(2);
    assert!(done.err.contains(&sandbox.home.display().to_string()), "{}", done.err);
    assert!(sandbox.calls().is_empty());
}

/// SQLite calls a full disk an error of it. What was written can still be read.
#[test]
fn a_full_disk_is_called_full_and_can_be_read() {
    const NAME: &str = "a_full_disk_is_called_full_and_can_be_read";
    let sandbox = Sandbox::new();
    let Some(_home) = Mounted::new(&sandbox.home, "size=6m,mode=0700") else {
        return skipped(NAME, "a file system cannot be mounted here");
    };
    let agent = sandbox.agent(PROMISE);
    let command = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "--max", "1"];
    sandbox.run(&command).exits(6);
    let mut file = std::fs::File::create(sandbox.home.join("filler")).expect("a file");
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    let done = sandbox.run(&["run", "--reset", "--max", "3"]).exits(1);
    assert!(
        done.err.contains("the disk is full: ") && done.err.contains("help: free some disk space"),
        "{}",
        done.err
    );
    sandbox.run(&["status"]).exits(0).says("capped");
    sandbox.run(&["runs"]).exits(0).says("capped");
    std::fs::remove_file(sandbox.home.join("filler")).expect("removed");
}

fn give_to_nobody(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder").flatten() {
            if !entry.file_type().expect("a kind").is_symlink() {
                give_to_nobody(&entry.path());
            }
        }
    }
}

/// A small file system of its own for the home.
pub(crate) struct Mounted<'a>(&'a Path);

impl Mounted<'_> {
    pub(crate) fn new<'a>(path: &'a Path, options: &str) -> Option<Mounted<'a>> {
        std::fs::create_dir_all(path).expect("a folder");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path).output();
        done.is_ok_and(|it| it.status.success()).then_some(Mounted(path))
    }

    pub(crate) fn change(&self, options: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.0).output();
        assert!(done.expect("mount").status.success());
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

#[test]
fn g07_a_full_home_stops_it_safely_and_it_goes_on_when_there_is_room() {
    const NAME: &str = "g07_a_full_home_stops_it_safely";
    let mut stopped = 0;
    for kilobytes in [16, 64, 160, 256, 384, 640, 1024] {
        let sandbox = Sandbox::new();
        let size = format!("size={kilobytes}k,mode=0700");
        let Some(home) = Mounted::new(&sandbox.home, &size) else {
            return skipped(NAME, "a file system cannot be mounted here");
        };
        let agent = sandbox.agent(&format!(
            "head -c 60000 /dev/zero | tr '\\0' a; echo; echo \"$LOOP_CALL\" >> work; {COMMIT}; {PROMISE}"
        ));
        let command =
            ["run", "it", "--agent-cmd", &agent, "--check", "tests=cat work; [ $(wc -l < work) = 4 ]"];
        let done = sandbox.run(&command);
        if done.code == 0 {
            continue;
        }
        stopped += 1;
        assert!(matches!(done.code, 1 | 4 | 5), "{kilobytes} KiB: {done:?}");
        if done.code == 1 {
            assert!(done.err.contains(&sandbox.home.display().to_string()), "{kilobytes} KiB: {done:?}");
        }
        // A proof alone needs 256 MB.
        home.change("size=600m");
        sandbox.assert_nothing_runs();
        let mut after = sandbox.run(&command);
        if after.code == 4 {
            // The breaker opened, or a call was not begun because there was no room for it.
            after = sandbox.run(&["resume", "--reset"]);
        }
        assert_eq!(after.code, 0, "{kilobytes} KiB, with room: {after:?}");
        let calls = sandbox.calls();
        let mut once = calls.clone();
        once.dedup();
        assert_eq!(calls, once, "{kilobytes} KiB: a call was made twice");
        sandbox.run(&["verify"]).exits(0);
        drop(home);
    }
    assert!(0 < stopped, "every home was large enough");
}
