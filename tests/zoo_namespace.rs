//! What can only be tried where pids, disks and clocks are ours to choose: pids that are used again,
//! a disk that fills up, a clock that jumps. Each test starts this program again inside namespaces;
//! the functions that end in `_inside` do nothing outside.

use loop_harness::namespace;
use loop_harness::zoo::identity::Identity;
use loop_harness::zoo::{
    BOUNDS, Bounds, EndReason, Force, Keeper, Order, PreviousCall, Zoo, contain, find, find_by_mark, order,
    proc_stat::Stat, readable, shim_program, shim_resources, until_output, wait, zoo_program,
};
use rustix::fd::AsFd;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

#[test]
fn a_pid_that_is_used_again_is_never_signalled() {
    namespace::again("a_pid_that_is_used_again_is_never_signalled", &["a_pid_is_used_again_inside"]);
}

#[test]
fn a_pid_is_used_again_inside() {
    if !namespace::is_inside() {
        return;
    }
    contain::become_subreaper().expect("possible");
    let mut zoo = Zoo::open();
    zoo.send(&["ignores everything"]);
    until_output(&zoo.run.path().join("call-1.out"));
    let shim = zoo.shim();
    let PreviousCall::Live(attached) = find(zoo.run.path(), "call-1", 1, None).expect("possible") else {
        panic!("not live")
    };
    zoo.keeper.kill().expect("signalled");
    wait(&mut zoo.keeper).expect_err("the shim is dead");
    assert_eq!(contain::sweep().left, []);
    assert_eq!(shim_resources::clear(zoo.run.path(), 1), []);
    let mut victim = with_pid(shim.pid, shim.start);
    let real = Stat::read(shim.pid).expect("readable").expect("alive");
    let same_start = Identity { start: real.start, ..shim.clone() };
    let other_boot = Identity { boot: "another".to_owned(), ..same_start.clone() };
    // As it was left, with the victim's own start, and from another boot.
    for identity in [shim, same_start, other_boot] {
        identity.write(zoo.run.path(), 1).expect("written");
        let found = find(zoo.run.path(), "call-1", 1, None).expect("possible");
        assert!(matches!(found, PreviousCall::Lost(_)), "{found:?}");
        shim_resources::clear(zoo.run.path(), 1);
        shim_resources::clear_before(zoo.run.path(), 2);
    }
    attached.interrupt(Force::Soft).expect("nobody to signal");
    attached.interrupt(Force::Hard).expect("nobody to signal");
    zoo.keeper.kill().expect("nobody to signal");
    assert_eq!(find_by_mark::end_marked("no such run"), []);
    drop(zoo);
    assert!(victim.try_wait().expect("readable").is_none(), "the victim was ended");
    assert!(matches!(Stat::read(real.pid), Ok(Some(it)) if it.state != 'T'), "the victim was stopped");
    victim.kill().expect("ours");
    victim.wait().expect("collected");
}

/// A process of this pid that started later than the one before it.
fn with_pid(pid: i32, later_than: u64) -> Child {
    for _ in 0..100_000 {
        fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).expect("this namespace is ours");
        let mut child =
            Command::new(zoo_program()).arg("silent").stdin(Stdio::null()).spawn().expect("started");
        let is_it = i32::try_from(child.id()).expect("a pid") == pid;
        // The kernel counts starts in hundredths of a second.
        if is_it && Stat::read(pid).expect("readable").expect("alive").start > later_than {
            return child;
        }
        child.kill().expect("ours");
        child.wait().expect("collected");
    }
    panic!("pid {pid} was not to be had");
}

#[test]
fn a_full_disk_does_not_swallow_the_end_of_a_call() {
    namespace::again("a_full_disk_does_not_swallow_the_end_of_a_call", &["a_full_disk_inside"]);
}

#[test]
fn a_full_disk_inside() {
    if !namespace::is_inside() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=512k", "none"]).arg(place.path()).status();
    assert!(mounted.expect("mount").success());
    let run = place.path().join("run");
    fs::create_dir(&run).expect("made");
    let cage = tempfile::tempdir().expect("a folder");
    let mut keeper = Keeper::start(&shim_program(), &run, 1).expect("a shim");
    let filler = place.path().join("filler");
    keeper
        .send(order(cage.path(), "call-1", &["fills the disk", text(&filler), text(&run.join("call-1.out"))]))
        .expect("sent");
    until_output(&run.join("call-1.out"));
    // Nobody is there to hear the answer, so the record is all there is.
    drop(keeper);
    let ending = loop {
        match find(&run, "call-1", 1, None).expect("possible") {
            PreviousCall::Live(attached) => assert!(readable(attached.as_fd(), None)),
            PreviousCall::Ended(ending) => break ending,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((ending.how, ending.code), (EndReason::Exited, Some(3)));
    // A call whose end could not be recorded is not started: first what was reserved is used up.
    fs::remove_file(run.join("calls.log")).expect("removed");
    let mut fill = fs::File::options().append(true).open(&filler).expect("there");
    while std::io::Write::write(&mut fill, &[0; 4096]).is_ok_and(|it| it > 0) {}
    let mut keeper = Keeper::start(&shim_program(), &run, 2).expect("a shim");
    // On some kernels there is not even room for its name.
    if keeper.greet().is_ok() {
        keeper.send(order(cage.path(), "call-2", &["exits", "0"])).expect("sent");
        let ending = wait(&mut keeper).expect("an answer");
        assert!(
            matches!(&ending.how, EndReason::CouldNotStart(why) if why.contains("No space left")),
            "{ending:?}"
        );
    }
    drop(fill);
    let gone = Command::new("umount").arg("-l").arg(place.path()).status();
    assert!(gone.expect("umount").success());
}

/// A laptop that sleeps comes back with a clock that has jumped, which a time namespace shows a
/// process from its start: what is measured from boot is far, what is left of a limit is not.
#[test]
fn a_clock_that_is_an_hour_ahead_ends_nothing() {
    let test = "a_clock_that_is_an_hour_ahead_ends_nothing";
    let ahead = ["--time", "--boottime", "3600", "--monotonic", "3600"];
    namespace::again_with(test, &ahead, &["a_clock_ahead_inside"]);
}

#[test]
fn a_clock_ahead_inside() {
    if !namespace::is_inside() {
        return;
    }
    let mut zoo = Zoo::open();
    let quiet = Bounds { idle_ms: 5_000, total_ms: 20_000, ..BOUNDS };
    let ending = zoo.watch(&["busy", "300"], quiet);
    assert_eq!((ending.how, ending.code), (EndReason::Exited, Some(3)));
    assert!(ending.ms < 20_000, "{} ms", ending.ms);
    let order =
        Order { bounds: Bounds { total_ms: 300, ..BOUNDS }, ..order(zoo.cage.path(), "call-2", &["silent"]) };
    assert_eq!(zoo.run(order).how, EndReason::TimedOut);
}

/// The run's folder is known by a handle: a call goes on where the folder has gone.
#[test]
fn a_folder_that_is_moved_keeps_its_call() {
    let Zoo { run, cage, mut keeper } = Zoo::open();
    let long = Bounds { grace_ms: 20_000, ..BOUNDS };
    keeper
        .send(Order { bounds: long, ..order(cage.path(), "call-1", &["writes its result"]) })
        .expect("sent");
    until_output(&run.path().join("call-1.out"));
    drop(keeper);
    let place = tempfile::tempdir().expect("a folder");
    let moved = place.path().join("moved");
    fs::rename(run.path(), &moved).expect("moved");
    end_and_collect(&moved);
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn end_and_collect(run: &Path) {
    let PreviousCall::Live(attached) = find(run, "call-1", 1, None).expect("possible") else {
        panic!("not live")
    };
    attached.interrupt(Force::Soft).expect("signalled");
    assert!(readable(attached.as_fd(), None));
    let PreviousCall::Ended(ending) = find(run, "call-1", 1, None).expect("possible") else {
        panic!("not ended")
    };
    assert_eq!((ending.how, ending.code, ending.trouble), (EndReason::Interrupted, Some(0), None));
    assert_eq!(fs::read_to_string(run.join("call-1.out")).expect("an output"), "ready\nresult\n");
}
