//! Who may own a run and a working tree, and how an owner is woken.

use super::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

/// The test that, started as a process of its own, opens the run.
const OPENS: &str = "locks::g16_one_of_fifty_processes_owns_the_run";

#[test]
fn g16_one_of_fifty_processes_owns_the_run() {
    if let Some(home) = given_home() {
        return open_the_run(&home);
    }
    let place = place();
    let mut children: Vec<_> =
        (0..50).map(|_| child(OPENS, &place.path()).stdin(Stdio::piped()).spawn().unwrap()).collect();
    let mut words: Vec<String> = Vec::new();
    let mut outputs: Vec<_> =
        children.iter_mut().map(|child| BufReader::new(child.stdout.take().unwrap())).collect();
    for output in &mut outputs {
        words.push(said(output));
    }
    // The winner holds on until it is told to end, so nobody could win after it.
    let won = words.iter().filter(|word| *word == "won").count();
    let lost = words.iter().filter(|word| word.starts_with("held by pid ")).count();
    assert_eq!((won, lost), (1, 49), "{words:?}");
    for child in &mut children {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    assert_eq!(Journal::open(&place.home, RUN).unwrap().journal.epoch(), 2);
}

/// What it does in the processes that it and others start.
fn open_the_run(path: &Path) {
    let home = Home::open(path).unwrap();
    let opened = Journal::open(&home, RUN);
    match &opened {
        Ok(_) => println!("said won"),
        Err(StoreError::Held { by: Some(by), .. }) => println!("said held by {by}"),
        Err(error) => println!("said {error:?}"),
    }
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// The next line that a child said, past what the test harness prints.
fn said(output: &mut impl BufRead) -> String {
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "the child ended without a word");
        // The harness prints the test's name without an end of line.
        if let Some((_, word)) = line.split_once("said ") {
            return word.trim().to_owned();
        }
    }
}

#[test]
fn g17_a_dead_owner_never_blocks_and_a_live_one_is_named() {
    let place = place();
    for _ in 0..5 {
        let mut owner = child(OPENS, &place.path()).stdin(Stdio::piped()).spawn().unwrap();
        assert_eq!(said(&mut BufReader::new(owner.stdout.take().unwrap())), "won");
        let error = Journal::open(&place.home, RUN).unwrap_err();
        assert_eq!(error.exit_code(), 7);
        assert!(
            error.to_string().contains(&format!("run 11111111 is in use by pid {}", owner.id())),
            "{error}"
        );
        assert_eq!(place.home.holder(RUN).unwrap().pid, owner.id() as i32);
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert_eq!(place.home.holder(RUN), None);
        let ours = Journal::open(&place.home, RUN).unwrap();
        assert_eq!(place.home.holder(RUN), Some(Holder::this_process()));
        drop(ours);
        assert_eq!(place.home.holder(RUN), None, "a process that gave the run back lives on");
    }
}

#[test]
fn a_pid_of_another_process_is_not_the_holder() {
    let me = Holder::this_process();
    assert!(me.is_alive());
    assert!(!Holder { start: me.start + 1, ..me.clone() }.is_alive());
    assert!(!Holder { boot: "another".into(), ..me }.is_alive());
}

#[test]
fn a_working_tree_has_one_controller_whatever_its_home() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let (one, two, tree, other) = (path("one"), path("two"), path("tree"), path("other"));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&tree, &link).unwrap();

    let lock = TreeLock::take(&one, &tree).unwrap();
    for home in [&one, &two] {
        let error = TreeLock::take(home, &link).unwrap_err();
        assert_eq!(error.exit_code(), 7);
        assert!(error.to_string().contains(&format!("in use by pid {}", std::process::id())), "{error}");
    }
    TreeLock::take(&one, &other).unwrap();
    assert_eq!(std::fs::read_dir(&tree).unwrap().count(), 0, "nothing is left in the tree");
    // A tree that was removed and made again is the same place.
    std::fs::remove_dir(&tree).unwrap();
    std::fs::create_dir(&tree).unwrap();
    assert!(TreeLock::take(&one, &tree).is_err());
    drop(lock);
    TreeLock::take(&two, &tree).unwrap();
}

#[test]
fn a_wake_reaches_the_listener_and_says_when_there_is_none() {
    let place = place();
    let folder = place.home.folder(RUN);
    assert!(!wake(&folder, NOW).unwrap());
    let mut ear = Wake::listen(&folder).unwrap();
    assert_eq!(ear.drain(), b"");
    assert!(wake(&folder, COMMAND).unwrap());
    assert!(wake(&folder, NOW).unwrap());
    let mut ready = [PollFd::new(&ear, PollFlags::IN)];
    assert_eq!(poll(&mut ready, Some(&Timespec { tv_sec: 5, tv_nsec: 0 })).unwrap(), 1);
    assert_eq!(ear.drain(), b"cn");
    // More than the pipe holds: nobody blocks, and the owner is woken all the same.
    for _ in 0..70_000 {
        assert!(wake(&folder, COMMAND).unwrap());
    }
    assert!(ear.drain().len() >= 4_096);
    drop(ear);
    // Other tests start processes beside this one. Each of those has a copy of every open file until it
    // executes its program, and with it the FIFO has a reader for that long.
    let begun = Instant::now();
    while wake(&folder, NOW).unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody listens any more");
        std::thread::yield_now();
    }
}

#[test]
fn something_else_in_the_place_of_the_fifo_is_replaced() {
    let place = place();
    let folder = place.home.folder(RUN);
    std::fs::write(folder.join("wake"), "a file").unwrap();
    assert!(!wake(&folder, NOW).unwrap());
    let mut ear = Wake::listen(&folder).unwrap();
    assert!(wake(&folder, NOW).unwrap());
    assert_eq!(ear.drain(), b"n");
    drop(ear);
    let victim = place.folder.path().join("victim");
    std::fs::write(&victim, "").unwrap();
    std::fs::remove_file(folder.join("wake")).unwrap();
    std::os::unix::fs::symlink(&victim, folder.join("wake")).unwrap();
    Wake::listen(&folder).unwrap();
    assert_eq!(std::fs::read(&victim).unwrap(), b"");
}

#[test]
fn a_listener_that_leaves_is_noticed_at_once() {
    let place = place();
    let folder = place.home.folder(RUN);
    let begun = Instant::now();
    wait_for_listener_to_leave(&folder, Duration::from_secs(600));
    let wake = Wake::listen(&folder).unwrap();
    // One that stays is waited for as long as was said.
    wait_for_listener_to_leave(&folder, Duration::from_millis(20));
    assert!(is_listening(&folder) && Duration::from_millis(20) <= begun.elapsed());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| wait_for_listener_to_leave(&folder, Duration::from_secs(600)));
        drop(wake);
        waits.join().unwrap();
    });
    assert!(!is_listening(&folder) && begun.elapsed() < Duration::from_secs(300));
}

#[test]
fn twenty_writers_all_get_through() {
    const WRITERS: usize = 20;
    const EACH: i64 = 25;
    let place = place();
    let ids: Vec<String> = (0..WRITERS).map(|n| format!("{n:08x}-0000-4000-8000-000000000000")).collect();
    for id in &ids {
        create(&place.home, id);
    }
    std::thread::scope(|scope| {
        for id in &ids {
            let path = place.path();
            scope.spawn(move || {
                let home = Home::open(&path).unwrap();
                let mut journal = Journal::open(&home, id).unwrap().journal;
                fill(&home, &mut journal, EACH);
            });
        }
    });
    for id in &ids {
        assert_eq!(place.home.verify(id).unwrap(), JournalVerdict::Whole { events: EACH });
    }
}
