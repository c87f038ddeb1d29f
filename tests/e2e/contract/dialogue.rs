//! `loop setup` on a terminal: three questions, Enter takes what was found; `loop init` without an input
//! is the same.

use loop_harness::Sandbox;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// Types the lines into a terminal that a command sits at, each when it is asked for (a line ends without
/// a line break), and returns what was shown and the exit code. `None` closes the input.
fn at_terminal(sandbox: &Sandbox, arguments: &[&str], lines: &[Option<&str>]) -> (String, i32) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("a terminal of ours");
    unlockpt(&ours).expect("a terminal of ours");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    let theirs: OwnedFd = open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("the other end");
    let mut command = sandbox.command(arguments);
    let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("a descriptor"));
    command.stdin(end(&theirs)).stdout(end(&theirs)).stderr(end(&theirs));
    let mut child = command.spawn().expect("the program");
    drop(command);
    drop(theirs);
    let mut shown = String::new();
    let mut lines = lines.iter();
    loop {
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        let ready = poll(&mut [PollFd::new(&ours, PollFlags::IN)], Some(&patience)).expect("a poll");
        assert_eq!(ready, 1, "it hangs after:\n{shown}");
        let mut bytes = [0; 4096];
        // A terminal whose other side is gone answers with an error.
        let Ok(count @ 1..) = rustix::io::read(&ours, &mut bytes) else { break };
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]).replace('\r', ""));
        let asked = shown
            .rsplit('\n')
            .next()
            .is_some_and(|it| it.ends_with(['?', ']', ' ']) && !it.trim().is_empty());
        if asked && shown.ends_with(' ') {
            match lines.next() {
                Some(Some(line)) => rustix::io::write(&ours, format!("{line}\n").as_bytes()).expect("room"),
                Some(None) | None => rustix::io::write(&ours, &[4]).expect("room"),
            };
        }
    }
    let code = child.wait().expect("an end").code().unwrap_or(-1);
    (shown, code)
}

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "build:\n\ttrue\ntest:\n\ttrue\n");
    let bin = sandbox.root().join("user/bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    sandbox
}

const FILE: &str = ".loop/workflow.toml";

#[test]
fn setup_enter_takes_what_was_found() {
    for command in [&["setup"][..], &["init"]] {
        let sandbox = project();
        let (shown, code) = at_terminal(&sandbox, command, &[Some(""); 8]);
        assert_eq!(code, 0, "{shown}");
        let text = sandbox.read(FILE);
        assert!(text.contains("extends = \"ralph\"") && text.contains("run = \"make test\""), "{text}");
        assert!(text.lines().count() <= 14, "about ten lines:\n{text}");
        for question in
            ["workflow (tdd, engineering, plan, ralph) [ralph]", "[make test]", "write them? [Y/n]"]
        {
            assert!(shown.contains(question), "no {question:?} in\n{shown}");
        }
        sandbox.run(&["check"]).exits(0);
    }
}

#[test]
fn setup_takes_other_answers() {
    let sandbox = project();
    let given = [Some("tddd"), Some("TDD"), Some("-"), Some("make test V=1"), Some("y")];
    let (shown, code) = at_terminal(&sandbox, &["setup", "--agent", "codex"], &given);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("did you mean \"tdd\"?"), "{shown}");
    let text = sandbox.read(FILE);
    assert!(text.contains("extends = \"tdd\"") && text.contains("cli = \"codex\""), "{text}");
    assert!(text.contains("run = \"make test V=1\"") && !text.contains("make build"), "{text}");
}

#[test]
fn setup_that_is_left_writes_nothing() {
    for lines in
        [&[None][..], &[Some(""), None], &[Some(""), Some(""), Some(""), Some("n"), Some("n"), Some("n")]]
    {
        let sandbox = project();
        let (shown, code) = at_terminal(&sandbox, &["setup", "--agent", "claude"], lines);
        assert_eq!(code, 5, "{shown}");
        assert!(!sandbox.project.join(".loop").exists(), "{shown}");
    }
}

#[test]
fn setup_asks_nothing_when_it_is_told_not_to_or_nobody_is_there() {
    let sandbox = project();
    let (shown, code) = at_terminal(&sandbox, &["setup", "--yes"], &[]);
    assert_eq!((code, shown.contains('?')), (0, false), "{shown}");
    let sandbox = project();
    sandbox.run(&["init"]).exits(0).says(FILE);
    let sandbox = project();
    sandbox.write(FILE, "mine\n");
    let (shown, code) = at_terminal(&sandbox, &["setup"], &[]);
    assert!(code == 2 && shown.contains("already exists"), "{shown}");
}
