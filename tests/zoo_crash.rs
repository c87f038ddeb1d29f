//! Controllers and shims that die: whatever is killed at whatever moment, a call starts once, its end
//! is known, and nothing of it stays.

use loop_harness::namespace;
use loop_harness::zoo::{
    BOUNDS, Bounds, EndReason, Force, Keeper, Order, OrderKind, PreviousCall, Zoo, contain, find,
    find_by_mark, identity, order, readable, shim_program, shim_resources, survivors, until_output, wait,
    zoo_program,
};
use rustix::fd::AsFd;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_call_outlives_its_controller_and_is_collected() {
    let Zoo { run, cage, mut keeper } = Zoo::open();
    let long = Bounds { grace_ms: 20_000, ..BOUNDS };
    let order = Order { bounds: long, ..order(cage.path(), "call-1", &["writes its result"]) };
    keeper.send(order).expect("sent");
    until_output(&run.path().join("call-1.out"));
    drop(keeper);
    let PreviousCall::Live(attached) = find(run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not live")
    };
    attached.interrupt(Force::Soft).expect("signalled");
    readable(attached.as_fd(), None);
    let PreviousCall::Ended(ending) = find(run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not ended")
    };
    assert_eq!((ending.how, ending.code, ending.out_bytes), (EndReason::Interrupted, Some(0), 13));
    assert_eq!(survivors(cage.path()), Vec::<i32>::new());
}

#[test]
fn an_abandoned_call_can_be_forced_to_end() {
    let Zoo { run, cage, mut keeper } = Zoo::open();
    let long = Bounds { grace_ms: 60_000, ..BOUNDS };
    let order = Order { bounds: long, ..order(cage.path(), "call-1", &["hears only SIGTERM"]) };
    keeper.send(order).expect("sent");
    until_output(&run.path().join("call-1.out"));
    drop(keeper);
    let PreviousCall::Live(attached) = find(run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not live")
    };
    attached.interrupt(Force::Soft).expect("signalled");
    attached.interrupt(Force::Hard).expect("signalled");
    readable(attached.as_fd(), None);
    let PreviousCall::Ended(ending) = find(run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not ended")
    };
    assert_eq!((ending.how, ending.code), (EndReason::Interrupted, Some(1)));
    assert!(ending.ms < 30_000, "{} ms", ending.ms);
}

#[test]
fn an_abandoned_call_keeps_its_limits() {
    let Zoo { run, cage, mut keeper } = Zoo::open();
    let order = Order {
        bounds: Bounds { total_ms: 300, grace_ms: 50, ..BOUNDS },
        ..order(cage.path(), "call-1", &["ignores everything"])
    };
    keeper.send(order).expect("sent");
    until_output(&run.path().join("call-1.out"));
    drop(keeper);
    let PreviousCall::Live(attached) = find(run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not live")
    };
    readable(attached.as_fd(), None);
    let PreviousCall::Ended(ending) = find(run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not ended")
    };
    assert_eq!((ending.how, ending.signal), (EndReason::TimedOut, Some(9)));
    assert_eq!(survivors(cage.path()), Vec::<i32>::new());
}

#[test]
fn a_check_ends_with_its_controller() {
    let Zoo { run, cage, mut keeper } = Zoo::open();
    let order = Order { kind: OrderKind::Check, ..order(cage.path(), "check-1", &["ignores everything"]) };
    keeper.send(order).expect("sent");
    until_output(&run.path().join("check-1.log"));
    let shim = identity::Identity::read(run.path(), 1).expect("readable").expect("a shim");
    let shim = shim.open().expect("readable").expect("alive");
    drop(keeper);
    assert!(readable(shim.as_fd(), Some(Duration::from_secs(10))), "the check holds its shim");
    assert_eq!(survivors(cage.path()), Vec::<i32>::new());
}

#[test]
fn what_lost_both_its_shim_and_its_controller_is_hunted() {
    let mut zoo = Zoo::open();
    let run = format!("zoo-{}", std::process::id());
    let mut order = zoo.order(&["kills its shim"]);
    order.env.push(("LOOP_RUN".into(), (&run).into()));
    zoo.keeper.send(order).expect("sent");
    wait(&mut zoo.keeper).expect_err("the shim is dead");
    assert_eq!(survivors(zoo.cage.path()).len(), 6);
    assert_eq!(find_by_mark::end_marked(&run), []);
    assert_eq!(shim_resources::clear(zoo.run.path(), 1), []);
    assert_eq!(survivors(zoo.cage.path()), Vec::<i32>::new());
}

#[test]
fn whoever_kills_the_shim_is_swept_by_the_controller() {
    for words in ["kills its shim", "kills the shim's group", "stops its shim"] {
        let root = tempfile::tempdir().expect("a folder");
        let status = controller(root.path(), words).status().expect("a controller");
        assert!(status.success(), "{words}");
        assert_eq!(survivors(root.path()), Vec::<i32>::new(), "{words}");
    }
}

#[test]
fn a_killed_controller_never_starts_a_call_twice() {
    const KILLS: u32 = 100;
    let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970").subsec_nanos();
    let seed = u64::from(now) << 20 | 1;
    let mut random = seed;
    let (mut kills, mut starts, mut voids) = (0, 0, 0);
    while kills < KILLS {
        let root = tempfile::tempdir().expect("a folder");
        loop {
            let mut child = controller(root.path(), "starts").spawn().expect("a controller");
            let pid = rustix::process::Pid::from_child(&child);
            let pidfd =
                rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).expect("alive");
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let has_ended = readable(pidfd.as_fd(), Some(Duration::from_micros(2_000 + random % 40_000)));
            if has_ended {
                assert!(child.wait().expect("collected").success(), "seed {seed}");
                break;
            }
            child.kill().expect("killed");
            child.wait().expect("collected");
            kills += 1;
        }
        let journal = fs::read_to_string(root.path().join("journal")).expect("a journal");
        for call in 1..=journal.matches("began ").count() {
            let started = fs::metadata(root.path().join(format!("started-{call}"))).map_or(0, |it| it.len());
            let conclusions = ["void", "ended", "lost"].map(|it| format!("{it} {call}"));
            let concluded: Vec<&str> =
                journal.lines().filter(|line| conclusions.iter().any(|it| it == line)).collect();
            let expected = format!("{} {call}", if started == 0 { "void" } else { "ended" });
            assert!(started <= 1, "call {call} started {started} times, seed {seed}");
            assert_eq!(concluded, [expected], "call {call}, seed {seed}");
            starts += started;
            voids += u64::from(started == 0);
        }
        assert_eq!(survivors(root.path()), Vec::<i32>::new(), "seed {seed}");
    }
    println!("{kills} kills, {starts} calls started once, {voids} voided, seed {seed}");
    assert!(starts > 0, "seed {seed}");
}

/// In a pid namespace the session of a program that was started from outside has no number.
#[test]
fn a_session_outside_of_the_namespace_is_no_trouble() {
    let tests = ["whoever_kills_the_shim_is_swept_by_the_controller", "an_abandoned_call_keeps_its_limits"];
    namespace::again("a_session_outside_of_the_namespace_is_no_trouble", &tests);
}

/// This test program again, as a controller that can be killed anywhere.
fn controller(root: &Path, words: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", "controller_of_the_crash_tests", "--nocapture"]);
    command.env("ZOO_ROOT", root).env("ZOO_WORDS", words).env("ZOO_PROGRAM", zoo_program());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Not a test by itself: does nothing unless it is started by one.
#[test]
fn controller_of_the_crash_tests() {
    let (Some(root), Ok(words)) = (std::env::var_os("ZOO_ROOT"), std::env::var("ZOO_WORDS")) else { return };
    let root = PathBuf::from(root);
    contain::become_subreaper().expect("possible");
    if words == "starts" {
        drive(&root)
    } else {
        lose_the_shim(&root, &words)
    }
    // The harness would go on; a controller ends here.
    std::process::exit(0);
}

fn lose_the_shim(root: &Path, words: &str) {
    // A child of the controller that is no part of the call: it is neither ended nor collected.
    let mut helper = std::process::Command::new("cat");
    let mut helper = helper.stdin(std::process::Stdio::piped()).spawn().expect("cat");
    let mut keeper = Keeper::start(&shim_program(), root, 1).expect("a shim");
    keeper.send(order(root, "call-1", &[words])).expect("sent");
    if words == "stops its shim" {
        until_output(&root.join("call-1.out"));
        keeper.kill().expect("signalled");
    }
    let lost = wait(&mut keeper).expect_err("the shim is dead");
    assert_eq!(lost.kind(), io::ErrorKind::UnexpectedEof);
    let swept = contain::sweep();
    assert!(swept.ended > 0 && swept.left.is_empty(), "{swept:?}");
    drop(helper.stdin.take());
    assert!(helper.wait().expect("still ours to collect").success(), "the sweep ended a helper");
    let PreviousCall::Lost(reason) = find(root, "call-1", 1, None).expect("possible") else {
        panic!("not lost")
    };
    assert_eq!(reason, "the shim died without an exit record");
    assert_eq!(shim_resources::clear(root, 1), []);
}

/// A small loop with a journal: what was begun is concluded first, then calls follow until twelve
/// have ended. Each begin names its epoch, as the real journal does.
fn drive(root: &Path) {
    let journal = fs::read_to_string(root.join("journal")).unwrap_or_default();
    let count = |word: &str| journal.matches(word).count();
    let mut file =
        fs::OpenOptions::new().create(true).append(true).open(root.join("journal")).expect("writable");
    let mut note = |line: String| file.write_all(format!("{line}\n").as_bytes()).expect("written");
    let epoch = count("epoch ") as u64 + 1;
    note(format!("epoch {epoch}"));
    let (mut begun, mut ended) = (count("began "), count("ended "));
    if begun > ended + count("void ") + count("lost ") {
        let last = journal.lines().rev().find(|it| it.starts_with("began ")).expect("counted above");
        let old = last.rsplit(' ').next().expect("an epoch").parse().expect("a number");
        let word = conclude(root, begun, old);
        note(format!("{word} {begun}"));
        ended += usize::from(word == "ended");
    }
    assert_eq!(shim_resources::clear_before(root, epoch), []);
    let mut keeper = None;
    while ended < 12 {
        begun += 1;
        note(format!("began {begun} {epoch}"));
        let keeper =
            keeper.get_or_insert_with(|| Keeper::start(&shim_program(), root, epoch).expect("a shim"));
        let file = root.join(format!("started-{begun}"));
        let words = ["starts", file.to_str().expect("text")];
        keeper.send(order(root, &format!("call-{begun}"), &words)).expect("sent");
        assert_eq!(wait(keeper).expect("an answer").code, Some(3));
        ended += 1;
        note(format!("ended {begun}"));
    }
}

fn conclude(root: &Path, call: usize, epoch: u64) -> &'static str {
    loop {
        match find(root, &format!("call-{call}"), epoch, None).expect("possible") {
            PreviousCall::NotStarted => return "void",
            PreviousCall::Ended(_) => return "ended",
            PreviousCall::Lost(_) => return "lost",
            PreviousCall::Live(attached) => assert!(readable(attached.as_fd(), None)),
        }
    }
}
