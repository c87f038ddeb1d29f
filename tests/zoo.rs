//! Misbehaving programs through the real binary's shim: each is a word of `zoo.c`, and after each of
//! them the process table must be as it was before.

use loop_harness::zoo::{
    BOUNDS, Bounds, EndReason, Force, Order, OrderEnd, OrderKind, SAID_READY, Zoo, apart_from_counts, order,
    readable, survivors, until_output, zoo_program,
};
use rustix::fd::AsFd;
use std::fs;
use std::time::Duration;

#[test]
fn whoever_flees_is_ended() {
    for (words, swept) in [
        ("setsid", 1..=1),
        ("double fork", 1..=1),
        ("stopped", 1..=1),
        ("holds the pipe", 1..=1),
        ("deep", 41..=41),
        ("wide", 200..=200),
        ("comet", 1..=u32::MAX),
        ("comets", 8..=u32::MAX),
        ("fleeing comets", 4..=u32::MAX),
        ("pairs", 10..=u32::MAX),
        ("bomb", 1..=u32::MAX),
        ("spinners", 6..=6),
        ("cleared environment", 1..=1),
        ("another name", 1..=1),
        ("closed files", 1..=1),
        ("blocked signals", 1..=1),
        ("again and again", 1..=u32::MAX),
        ("joins the shim's group", 1..=1),
    ] {
        let ending = Zoo::open().watch(&[words], BOUNDS);
        assert!(swept.contains(&ending.swept), "{words}: {ending:?}");
        assert_eq!(apart_from_counts(ending), SAID_READY, "{words}");
    }
}

#[test]
fn a_port_is_free_again() {
    let mut zoo = Zoo::open();
    let ending = zoo.watch(&["listens"], BOUNDS);
    assert_eq!((ending.code, ending.swept), (Some(3), 1));
    let port: u16 = zoo.output().trim().parse().expect("a port");
    std::net::TcpListener::bind(("127.0.0.1", port)).expect("a free port");
}

#[test]
fn signals_of_a_terminal_do_not_reach_the_shim() {
    assert_eq!(apart_from_counts(Zoo::open().watch(&["terminates its shim"], BOUNDS)), SAID_READY);
}

#[test]
fn orphans_that_ended_by_themselves_were_not_swept() {
    let ending = Zoo::open().watch(&["reaped orphans"], BOUNDS);
    assert_eq!((ending.code, ending.out_bytes, ending.swept), (Some(3), 12, 0));
}

#[test]
fn one_shim_serves_many_calls() {
    let mut zoo = Zoo::open();
    for number in 1..=20 {
        let order = order(zoo.cage.path(), &format!("call-{number}"), &["setsid"]);
        assert_eq!(apart_from_counts(zoo.run(order)), SAID_READY);
        assert_eq!(survivors(zoo.cage.path()), Vec::<i32>::new());
    }
    assert_eq!(zoo.shim_status("Threads"), 1);
}

#[test]
fn limits_end_a_call_and_say_which() {
    let quick = Bounds { idle_ms: 300, total_ms: 600, ..BOUNDS };
    let first = Bounds { first_ms: 200, ..BOUNDS };
    let idle = Bounds { idle_ms: 200, ..BOUNDS };
    let total = Bounds { total_ms: 400, ..BOUNDS };
    let cases = [
        ("silent", first, EndReason::NoFirstOutput),
        ("dots, then silence", idle, EndReason::Idle),
        ("stops itself", idle, EndReason::Idle),
        ("trickles", total, EndReason::TimedOut),
        ("trickles", quick, EndReason::TimedOut),
        ("floods for ever", Bounds { out_bytes: 1024, ..total }, EndReason::TimedOut),
    ];
    std::thread::scope(|scope| {
        for (words, bounds, how) in cases {
            scope.spawn(move || {
                let ending = Zoo::open().watch(&[words], bounds);
                // Signal 2 is SIGINT: nothing stronger was needed.
                assert_eq!((ending.how, ending.code, ending.signal), (how, None, Some(2)), "{words}");
                assert!(ending.ms < 10_000, "{words}: {} ms", ending.ms);
            });
        }
    });
}

#[test]
fn what_ignores_requests_is_killed() {
    let total = Bounds { total_ms: 100, grace_ms: 50, ..BOUNDS };
    std::thread::scope(|scope| {
        for words in ["ignores everything", "blocks everything", "leaves its group"] {
            scope.spawn(move || {
                let ending = Zoo::open().watch(&[words], total);
                assert_eq!((ending.how, ending.signal), (EndReason::TimedOut, Some(9)), "{words}");
                assert!(ending.left.is_empty(), "{words}");
            });
        }
    });
}

#[test]
fn quiet_work_is_no_silence() {
    let idle = Bounds { idle_ms: 300, ..BOUNDS };
    let ending = Zoo::open().watch(&["busy", "1500"], idle);
    let expected = OrderEnd { out_bytes: 11, ..SAID_READY };
    assert_eq!((ending.swept, apart_from_counts(ending.clone())), (1, expected));
}

#[test]
fn an_interrupted_call_may_write_its_result() {
    let mut zoo = Zoo::open();
    let order = Order { bounds: Bounds { grace_ms: 20_000, ..BOUNDS }, ..zoo.order(&["writes its result"]) };
    zoo.keeper.send(order).expect("sent");
    until_output(&zoo.run.path().join("call-1.out"));
    zoo.keeper.interrupt(Force::Soft).expect("sent");
    let ending = zoo.answer();
    assert_eq!((ending.how, ending.code), (EndReason::Interrupted, Some(0)));
    assert_eq!(zoo.output(), "ready\nresult\n");
}

#[test]
fn force_skips_the_grace() {
    let mut zoo = Zoo::open();
    let order = Order { bounds: Bounds { grace_ms: 60_000, ..BOUNDS }, ..zoo.order(&["hears only SIGTERM"]) };
    zoo.keeper.send(order).expect("sent");
    until_output(&zoo.run.path().join("call-1.out"));
    zoo.keeper.interrupt(Force::Soft).expect("sent");
    zoo.keeper.interrupt(Force::Hard).expect("sent");
    let ending = zoo.answer();
    assert_eq!((ending.how, ending.code), (EndReason::Interrupted, Some(1)));
    assert!(ending.ms < 30_000, "{} ms", ending.ms);
    assert_eq!(zoo.output(), "ready\nterminated\n");
}

#[test]
fn a_stopped_shim_can_be_interrupted() {
    let mut zoo = Zoo::open();
    zoo.send(&["stops its shim"]);
    until_output(&zoo.run.path().join("call-1.out"));
    while !zoo.shim_state().starts_with('T') {
        std::thread::yield_now();
    }
    assert!(zoo.keeper.patience() < Duration::MAX);
    zoo.keeper.interrupt(Force::Soft).expect("sent");
    assert_eq!(zoo.answer().how, EndReason::Interrupted);
    assert!(zoo.keeper.patience() == Duration::MAX);
}

#[test]
fn a_late_interrupt_does_not_hit_the_next_call() {
    let mut zoo = Zoo::open();
    zoo.send(&["exits", "0"]);
    readable(zoo.keeper.as_fd(), None);
    zoo.keeper.interrupt(Force::Hard).expect("sent");
    assert_eq!(zoo.answer().how, EndReason::Exited);
    let next = order(zoo.cage.path(), "call-2", &["reads slowly"]);
    assert_eq!(zoo.run(next).how, EndReason::Exited);
}

#[test]
fn a_flood_is_bounded_on_disk_and_in_memory() {
    let mut zoo = Zoo::open();
    let ending = zoo.watch(&["floods", "67108864"], Bounds { out_bytes: 1_000_000, ..BOUNDS });
    let expected = OrderEnd { out_bytes: 67_108_864 + 8, cut: true, ..SAID_READY };
    assert_eq!(apart_from_counts(ending), expected);
    let kept = zoo.output();
    let left_out = 67_108_864 + 8 - 1_000_000 - 1024 * 1024;
    assert!(kept.contains(&format!("\n[{left_out} bytes omitted here]\n")));
    assert!(kept.ends_with("the end\n"));
    assert!(kept.len() < 1_000_000 + 1024 * 1024 + 64);
    // The program's own pages are in memory too; a debug build has many.
    let peak = zoo.shim_status("VmHWM") - zoo.shim_status("RssFile");
    assert!(peak < 8 * 1024, "{peak} kB");
}

#[test]
fn one_long_line_needs_no_memory() {
    let mut zoo = Zoo::open();
    let ending = zoo.watch(&["one long line", "67108864"], Bounds { out_bytes: u64::MAX, ..BOUNDS });
    assert_eq!(apart_from_counts(ending), OrderEnd { out_bytes: 67_108_864, ..SAID_READY });
    assert_eq!(fs::metadata(zoo.run.path().join("call-1.out")).expect("an output").len(), 67_108_864);
    let peak = zoo.shim_status("VmHWM") - zoo.shim_status("RssFile");
    assert!(peak < 8 * 1024, "{peak} kB");
}

#[test]
fn bytes_are_kept_as_they_come() {
    for (words, bytes) in
        [("no text", &b"a\0b\xff\xfe\x1b]0;\xc3\n\0"[..]), ("half a line", b"{\"type\":\"res")]
    {
        let mut zoo = Zoo::open();
        let ending = zoo.watch(&[words], BOUNDS);
        assert_eq!(apart_from_counts(ending), OrderEnd { out_bytes: 12, ..SAID_READY }, "{words}");
        assert_eq!(fs::read(zoo.run.path().join("call-1.out")).expect("an output"), bytes, "{words}");
    }
}

#[test]
fn complaints_have_their_own_file_and_a_check_has_one_log() {
    let mut zoo = Zoo::open();
    let ending = zoo.watch(&["complains"], BOUNDS);
    assert_eq!(apart_from_counts(ending), OrderEnd { out_bytes: 4, err_bytes: 4, ..SAID_READY });
    assert_eq!(fs::read_to_string(zoo.run.path().join("call-1.err")).expect("complaints"), "err\n");
    let check =
        Order { kind: OrderKind::Check, stem: "check-1-tests".to_owned(), ..zoo.order(&["complains"]) };
    for _ in 0..2 {
        assert_eq!(apart_from_counts(zoo.run(check.clone())), OrderEnd { out_bytes: 8, ..SAID_READY });
        let log = fs::read_to_string(zoo.run.path().join("check-1-tests.log")).expect("a log");
        assert_eq!(log, "out\nerr\n");
    }
    let mut names: Vec<String> = fs::read_dir(zoo.run.path())
        .expect("a folder")
        .map(|it| it.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["call-1.err", "call-1.out", "calls.log", "check-1-tests.log", "shim-1", "unstarted"]);
}

#[test]
fn exits_are_told_apart() {
    for (words, code, signal) in [
        (["exits", "0"], Some(0), None),
        (["exits", "7"], Some(7), None),
        (["crashes", "11"], None, Some(11)),
        (["crashes", "9"], None, Some(9)),
    ] {
        let ending = Zoo::open().watch(&words, BOUNDS);
        assert_eq!(
            (&ending.how, ending.code, ending.signal),
            (&EndReason::Exited, code, signal),
            "{words:?}"
        );
    }
}

#[test]
fn a_large_prompt_arrives_or_is_ignored() {
    let mut zoo = Zoo::open();
    let prompt = "0123456789abcde\n".repeat(65_536);
    let slow = Order { stdin: prompt.clone(), ..zoo.order(&["reads slowly"]) };
    zoo.run(slow);
    assert_eq!(zoo.output(), "1048576 0\n");
    let ignoring = Order { stdin: prompt.clone(), ..order(zoo.cage.path(), "call-2", &["exits", "0"]) };
    assert_eq!(zoo.run(ignoring).code, Some(0));
    let echo = Order { stdin: prompt.clone(), ..order(zoo.cage.path(), "call-3", &["echoes"]) };
    assert_eq!(zoo.run(echo).code, Some(3));
    assert!(fs::read_to_string(zoo.run.path().join("call-3.out")).expect("an output") == prompt);
}

#[test]
fn the_program_gets_its_environment_and_nothing_of_ours() {
    let mut zoo = Zoo::open();
    let env =
        vec![("A".into(), "1".into()), ("PATH".into(), zoo_program().parent().expect("a folder").into())];
    let by_name = Order { argv: vec!["zoo".into(), "environment".into()], env, ..zoo.order(&[]) };
    assert_eq!(zoo.run(by_name).code, Some(3));
    let path = zoo_program().parent().expect("a folder").display().to_string();
    let scratch = zoo.scratch().expect("a folder for temporary files");
    assert_eq!(zoo.output(), format!("A=1\nPATH={path}\nTMPDIR={}\n", scratch.display()));
    let signals = order(zoo.cage.path(), "call-2", &["signals"]);
    zoo.run(signals);
    let output = fs::read_to_string(zoo.run.path().join("call-2.out")).expect("an output");
    let usual: i32 =
        fs::read_to_string("/proc/self/oom_score_adj").expect("a score").trim().parse().expect("a number");
    assert_eq!(output, format!("handicap {}\n", (usual + 500).min(1000)));
}

#[test]
fn what_cannot_start_says_why() {
    let mut zoo = Zoo::open();
    let cage = zoo.cage.path().to_owned();
    let mut reason = |stem: &str, change: &dyn Fn(&mut Order)| {
        let mut order = order(&cage, stem, &["exits", "0"]);
        change(&mut order);
        zoo.run(order).how
    };
    let absent = cage.join("absent");
    assert_eq!(
        reason("call-1", &|it| it.argv = vec!["no-such-program".into()]),
        EndReason::CouldNotStart("no-such-program is not installed, or not in PATH".to_owned())
    );
    assert_eq!(
        reason("call-2", &|it| it.cwd = absent.clone()),
        EndReason::CouldNotStart(format!("the folder {} does not exist", absent.display()))
    );
    assert_eq!(
        reason("call-3", &|it| it.argv = vec![absent.clone().into()]),
        EndReason::CouldNotStart(format!(
            "{} cannot be started: No such file or directory (os error 2)",
            absent.display()
        ))
    );
    assert_eq!(reason("call-3", &|_| {}), EndReason::NotStarted);
    assert_eq!(reason("call-4", &|_| {}), EndReason::Exited);
}

#[test]
fn a_pipe_that_a_stranger_holds_is_let_go() {
    let mut zoo = Zoo::open();
    let short = Bounds { grace_ms: 20_000, pipe_ms: 100, ..BOUNDS };
    let order = Order { bounds: short, ..zoo.order(&["writes its result"]) };
    zoo.keeper.send(order).expect("sent");
    until_output(&zoo.run.path().join("call-1.out"));
    let program = survivors(zoo.cage.path())[0];
    let held = fs::OpenOptions::new().write(true).open(format!("/proc/{program}/fd/1")).expect("a pipe");
    zoo.keeper.interrupt(Force::Soft).expect("sent");
    let ending = zoo.answer();
    drop(held);
    assert_eq!((ending.how, ending.pipe_held, ending.out_bytes), (EndReason::Interrupted, true, 13));
}
