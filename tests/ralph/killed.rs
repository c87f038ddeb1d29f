//! A hook that is ended while its checks run, whatever ends it; and what others may do meanwhile.
//! The check says when it runs, and waits for as long as a test needs.

use super::session::{PROMISE, Sandbox, answer};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Measures the work. In place it says where it runs and waits until it may go on; a clean checkout
/// knows no `$OUT`.
const CHECK: &str = "tests=grep -q hello hello.txt || exit 1; test -z \"$OUT\" || test -e $OUT/go || \
    { echo $$ > $OUT/p && mv $OUT/p $OUT/pid && exec sleep 600; }";

/// A loop whose work is done, and a hook that checks that.
fn checking() -> (Sandbox, Child) {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.fulfil();
    let hook = begin(&sandbox);
    until("the check runs", || sandbox.note("pid").exists());
    (sandbox, hook)
}

fn begin(sandbox: &Sandbox) -> Child {
    let input = sandbox.note("input.json");
    std::fs::write(&input, sandbox.stop_input("one", false, PROMISE).to_string()).expect("written");
    let mut command = sandbox.command(&["hook", "stop"]);
    command.stdin(std::fs::File::open(input).expect("a file"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program")
}

/// Ends the wait as soon as it holds; far more time than it takes is a failure.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::yield_now();
    }
}

fn check_is_gone(sandbox: &Sandbox) {
    let pid: i32 = sandbox.noted("pid").trim().parse().expect("a pid");
    let pid = Pid::from_raw(pid).expect("a pid");
    until("the check is ended", || test_kill_process(pid).is_err());
}

fn kill(hook: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(hook.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("it runs");
}

#[test]
fn a_hook_that_is_told_to_end_lets_go_and_the_checks_are_run_at_the_next_stop() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (sandbox, hook) = checking();
        kill(&hook, signal);
        let done = hook.wait_with_output().expect("an end");
        assert_eq!(done.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&done.stdout), "");
        assert!(String::from_utf8_lossy(&done.stderr).contains("run at the next stop"), "{done:?}");
        check_is_gone(&sandbox);
        let status = sandbox.status();
        assert_eq!((&status["status"], &status["iterations_total"]), (&"running".into(), &0.into()));
        std::fs::write(sandbox.note("go"), "").expect("written");
        assert_eq!(sandbox.stop("one", false, "as I said"), None);
        assert_eq!(sandbox.status()["status"], "completed");
    }
}

#[test]
fn a_hook_that_is_killed_leaves_nothing_running_and_nothing_lost() {
    let (sandbox, mut hook) = checking();
    hook.kill().expect("it runs");
    hook.wait().expect("an end");
    check_is_gone(&sandbox);
    std::fs::write(sandbox.note("go"), "").expect("written");
    // What the session promised is on record: it need not promise again.
    assert_eq!(sandbox.stop("one", false, "as I said"), None);
    assert_eq!(sandbox.status()["status"], "completed");
    assert_eq!(sandbox.run(&["verify"]).code, 0);
}

#[test]
fn of_two_stops_at_once_one_is_measured_and_the_other_let_go() {
    let (sandbox, hook) = checking();
    let second = sandbox.hook(&sandbox.stop_input("one", false, PROMISE).to_string());
    assert_eq!((second.code, answer(&second)), (0, None));
    assert!(second.err.contains("the session may stop"), "{second:?}");
    assert!(sandbox.run(&["status"]).out.contains("WORK: the checks are running"));
    kill(&hook, Signal::TERM);
    hook.wait_with_output().expect("an end");
    let log = sandbox.run(&["log", "--json"]).out;
    let stops = log.lines().filter(|it| it.contains("\"joined\"")).count();
    assert_eq!(stops, 2, "the beginning and the first stop");
}

#[test]
fn cancel_from_elsewhere_ends_the_checks_and_lets_the_session_go() {
    let (sandbox, hook) = checking();
    assert_eq!(sandbox.run(&["cancel", "--yes"]).code, 0);
    let done = hook.wait_with_output().expect("an end");
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), &b""[..]));
    check_is_gone(&sandbox);
    assert_eq!(sandbox.status()["status"], "cancelled");
    assert_eq!(sandbox.stop("one", true, PROMISE), None);
}
