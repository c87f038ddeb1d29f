//! A test program again, inside namespaces of its own, where pids can be chosen and disks be made.
//! What a machine refuses is skipped by name.

use std::process::Command;

/// A user, a process table and mounts of one's own.
const WAYS: [&str; 6] = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];

/// Says that this is the inner program.
const INSIDE: &str = "ZOO_NAMESPACE";

/// Whether this program runs inside.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs these tests of the same program inside; `test` is who asks.
pub fn again(test: &str, tests: &[&str]) {
    again_with(test, &[], tests);
}

/// The same, with further options of `unshare`.
pub fn again_with(test: &str, ways: &[&str], tests: &[&str]) {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(WAYS).args(ways);
        command
    };
    let refused = match unshare().arg("true").output() {
        Ok(done) if done.status.success() => None,
        Ok(done) => Some(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = refused {
        return eprintln!("SKIPPED {test}: {why}");
    }
    let mut command = unshare();
    command.arg(std::env::current_exe().expect("a path")).args(["--exact", "--nocapture"]).args(tests);
    let done =
        command.env(INSIDE, "1").env("ZOO_PROGRAM", crate::zoo::zoo_program()).output().expect("started");
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}\n{}", told(&done.stdout), told(&done.stderr));
    for line in told(&done.stderr).lines().filter(|it| it.starts_with("SKIPPED")) {
        eprintln!("{line}");
    }
}
