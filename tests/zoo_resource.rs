//! What a call may use and what it leaves: temporary files, memory, processes, control groups; and
//! calls that wait for somebody who is not there.

use loop_harness::within;
use loop_harness::zoo::{
    BOUNDS, Bounds, EndReason, Order, OrderKind, Zoo, contain, order, proc_stat::Stat, shim_resources,
    survivors, until_output, wait,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[test]
fn temporary_files_have_a_folder_of_their_own_that_goes() {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("kept"), "precious").expect("written");
    let mut zoo = Zoo::open();
    let scratch = zoo.scratch().expect("a folder for temporary files");
    assert!(scratch.as_os_str().len() <= 48, "{scratch:?} leaves no room for the name of a socket");
    for stem in ["call-1", "call-2"] {
        let words = ["leaves temporary files", outside.path().to_str().expect("text")];
        let ending = zoo.run(order(zoo.cage.path(), stem, &words));
        assert_eq!((ending.code, ending.trouble), (Some(3), None), "{stem}");
        assert_eq!(fs::read_dir(&scratch).expect("there").count(), 0);
    }
    assert_eq!(zoo.output(), format!("{}\n", scratch.display()));
    assert_eq!(fs::read_to_string(outside.path().join("kept")).expect("there"), "precious");
    // One that removes the folder costs the next one nothing.
    let ending = zoo.run(order(zoo.cage.path(), "call-3", &["removes its folder"]));
    assert_eq!(ending.code, Some(3));
    let ending = zoo.run(order(zoo.cage.path(), "call-4", &["tells its limits"]));
    assert_eq!((ending.code, ending.trouble), (Some(3), None));
    let again = zoo.scratch().expect("another folder");
    assert_ne!(again, scratch);
    drop(zoo);
    assert!(!again.exists() && !scratch.exists(), "the shim left its folder");
}

#[test]
fn a_folder_that_was_asked_for_is_not_replaced() {
    let mut zoo = Zoo::open();
    let mut order = zoo.order(&["environment"]);
    order.env = vec![("TMPDIR".into(), "/somewhere/else".into())];
    zoo.run(order);
    assert_eq!(zoo.output(), "TMPDIR=/somewhere/else\n");
}

#[test]
fn whoever_comes_next_removes_what_a_killed_shim_left() {
    contain::become_subreaper().expect("possible");
    let mut zoo = Zoo::open();
    let scratch = zoo.scratch().expect("a folder for temporary files");
    let words = ["leaves temporary files", "/"];
    let check = Order { kind: OrderKind::Check, ..zoo.order(&words) };
    zoo.run(check);
    fs::write(scratch.join("left"), "x").expect("written");
    let group = zoo.shim().belongings.cgroup;
    // While it lives, it is left alone.
    assert_eq!(shim_resources::clear_before(zoo.run.path(), 5), []);
    assert!(scratch.exists());
    zoo.keeper.kill().expect("signalled");
    loop_harness::zoo::readable(rustix::fd::AsFd::as_fd(&zoo.keeper), None);
    assert_eq!(shim_resources::clear_before(zoo.run.path(), 5), []);
    assert!(!scratch.exists());
    assert!(!group.is_some_and(|it| it.exists()));
}

#[test]
fn core_dumps_and_processes_are_limited() {
    let mut zoo = Zoo::open();
    assert_eq!(zoo.watch(&["tells its limits"], BOUNDS).code, Some(3));
    assert_eq!(zoo.output(), "core 0 0, tmp 700, processes limited\n");
    let status = fs::read_to_string(format!("/proc/{}/limits", zoo.shim().pid)).expect("limits");
    let ours = fs::read_to_string("/proc/self/limits").expect("limits");
    let processes = |text: &str| text.lines().find(|it| it.starts_with("Max processes")).map(str::to_owned);
    assert_eq!(processes(&status), processes(&ours), "the shim keeps its own limit");
}

#[test]
fn a_fork_bomb_meets_a_limit() {
    let mut zoo = Zoo::open();
    let few = Bounds { processes: 64, ..BOUNDS };
    let is_held = !rustix::process::geteuid().is_root() || has_controller(&zoo, "pids");
    // Without the controller the limit lies above all threads of the machine, some hundreds.
    let wanted = if is_held { 5_000 } else { 300 };
    let ending = zoo.watch(&["forks until it cannot", &wanted.to_string()], few);
    assert_eq!((&ending.how, ending.code), (&EndReason::Exited, Some(3)), "{ending:?}");
    let made: u32 = zoo.output().trim().parse().expect("a number");
    if is_held {
        assert!(made < wanted, "{made} processes");
    } else {
        eprintln!(
            "SKIPPED a_fork_bomb_meets_a_limit: root is not held to it, and no pids controller is ours"
        );
    }
    let next = order(zoo.cage.path(), "call-2", &["exits", "0"]);
    assert_eq!(zoo.run(next).code, Some(0));
}

#[test]
fn who_eats_memory_is_ended_and_the_shim_is_not() {
    let mut zoo = Zoo::open();
    let little = Bounds { memory_bytes: 64 << 20, ..BOUNDS };
    let has = has_controller(&zoo, "memory");
    let ending = zoo.watch(&["eats memory", "209715200"], little);
    if has {
        assert_eq!((ending.signal, ending.trouble), (Some(9), None));
    } else {
        // It is said, not silently forgotten.
        assert!(ending.trouble.is_some_and(|it| it.contains("memory")));
        eprintln!("SKIPPED who_eats_memory_is_ended: no memory controller is ours");
    }
    let next = order(zoo.cage.path(), "call-2", &["exits", "0"]);
    assert_eq!(zoo.run(next).code, Some(0));
}

/// Neither mark nor folder nor parent leads to it; the group does.
#[test]
fn who_outlives_shim_and_controller_is_found_by_the_group() {
    let mut zoo = Zoo::open();
    let Some(group) = group(&zoo, "who_outlives_shim_and_controller_is_found_by_the_group") else { return };
    let note = zoo.run.path().join("pid");
    zoo.send(&["outlives everybody", note.to_str().expect("text")]);
    until_output(&note);
    let pid: i32 = fs::read_to_string(&note).expect("a note").trim().parse().expect("a pid");
    // Two ends are the program's own: of the child between it and who stays, and by writing to a shim
    // that is dead. Once it has spoken and that child is gone, only who stays and its parent are there.
    until_output(&zoo.run.path().join("call-1.out"));
    let others = || survivors(zoo.cage.path()).into_iter().filter(|it| *it != pid).collect::<Vec<_>>();
    assert!(within(Duration::from_secs(20), || others().len() == 1), "{:?}", others());
    let parent = others()[0];
    zoo.keeper.kill().expect("signalled");
    wait(&mut zoo.keeper).expect_err("the shim is dead");
    assert!(is_alive(pid) && is_alive(parent));
    // A forged name kills nobody.
    assert_eq!(loop_harness::zoo::cgroup::clear(&group, "loop-another-1"), []);
    assert!(is_alive(pid) && is_alive(parent));
    assert_eq!(shim_resources::clear(zoo.run.path(), 1), []);
    assert!(!is_alive(pid) && !is_alive(parent) && !group.exists());
    assert_eq!(survivors(zoo.cage.path()), Vec::<i32>::new());
}

#[test]
fn the_frozen_are_ended() {
    let mut zoo = Zoo::open();
    let Some(group) = group(&zoo, "the_frozen_are_ended") else { return };
    let ending = zoo.watch(&["freezes its child", group.to_str().expect("text")], BOUNDS);
    assert_eq!((ending.code, ending.swept, ending.left), (Some(3), 1, Vec::new()));
    drop(zoo);
    assert!(!group.exists(), "the group stays");
}

/// A stranger in the group is nobody's child; the last step of the ladder ends it with the group.
#[test]
fn who_is_in_the_group_is_ended_whoever_its_parent_is() {
    let mut zoo = Zoo::open();
    let Some(group) = group(&zoo, "who_is_in_the_group_is_ended_whoever_its_parent_is") else { return };
    let mut other =
        std::process::Command::new(loop_harness::zoo::zoo_program()).arg("sits").spawn().expect("started");
    fs::write(group.join("cgroup.procs"), other.id().to_string()).expect("moved");
    let ending = zoo.watch(&["exits", "0"], BOUNDS);
    assert_eq!((ending.code, ending.swept, ending.left), (Some(0), 1, Vec::new()));
    assert!(!other.wait().expect("collected").success());
    let next = order(zoo.cage.path(), "call-2", &["setsid"]);
    assert_eq!(zoo.run(next).swept, 1);
    assert_eq!(zoo.below_shim(), Vec::<i32>::new());
}

#[test]
fn who_waits_for_a_person_is_told_from_who_hangs() {
    let idle = Bounds { idle_ms: 200, ..BOUNDS };
    let first = Bounds { first_ms: 200, ..BOUNDS };
    let words = |text: &str| EndReason::WaitedForInput(format!("its last words are \"{text}\""));
    let terminal = EndReason::WaitedForInput(".zoo reads from a terminal where nobody types".to_owned());
    let cases = [
        ("asks", idle, words("Overwrite it? [y/N]")),
        ("asks in a line", idle, words("Do you want to continue? (y/n)")),
        ("asks at a terminal", idle, terminal.clone()),
        ("asks at a terminal, silently", first, terminal),
        ("waits at a pipe", idle, EndReason::Idle),
        ("dots, then silence", idle, EndReason::Idle),
        ("silent", first, EndReason::NoFirstOutput),
    ];
    std::thread::scope(|scope| {
        for (words, bounds, how) in cases {
            scope.spawn(move || assert_eq!(Zoo::open().watch(&[words], bounds).how, how, "{words}"));
        }
    });
}

#[test]
fn who_asks_and_then_works_is_not_ended_for_it() {
    let ending = Zoo::open().watch(&["busy", "600"], Bounds { idle_ms: 200, ..BOUNDS });
    assert_eq!(ending.how, EndReason::Exited);
}

fn group(zoo: &Zoo, test: &str) -> Option<PathBuf> {
    let belongings = zoo.shim().belongings;
    if belongings.cgroup.is_none() {
        eprintln!("SKIPPED {test}: {}", belongings.without.join(", "));
    }
    belongings.cgroup
}

fn has_controller(zoo: &Zoo, name: &str) -> bool {
    let has = |it: &Path| fs::read_to_string(it.join("cgroup.controllers")).unwrap_or_default();
    zoo.shim().belongings.cgroup.is_some_and(|it| has(&it).split_whitespace().any(|it| it == name))
}

fn is_alive(pid: i32) -> bool {
    matches!(Stat::read(pid), Ok(Some(it)) if !it.is_dead())
}
