//! `slots`: so many calls of an account at once, over all runs of a home, whoever drives them. The agent
//! tells when it begins and ends when it is told to.

use loop_harness::{CHECK, Fifo, Running, Sandbox, WORK, within};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(30);

/// Four projects and one home with two slots.
struct Floor {
    sandbox: Sandbox,
    agent: String,
    projects: Vec<PathBuf>,
    goes: Vec<Fifo>,
}

impl Floor {
    fn new() -> Floor {
        let sandbox = Sandbox::new();
        sandbox.file("user/.config/loop/config.toml", "[limits]\nslots = 2\n");
        sandbox.file("user/.gitconfig", "[user]\nname = t\nemail = t@example.org\n");
        let script = format!(
            "name=$(basename \"$PWD\")\necho \"+ $name\" >> \"$OUT/floor\"\n\
             read go < \"$OUT/$name\"\necho \"- $name\" >> \"$OUT/floor\"\n{WORK}"
        );
        let agent = sandbox.agent(&script);
        let projects: Vec<PathBuf> = (0..4)
            .map(|number| {
                let place = sandbox.root().join(format!("p{number}"));
                let mut git = Command::new("git");
                sandbox.furnish(&mut git);
                git.args(["clone", "-q", "."]).arg(&place).current_dir(&sandbox.project);
                assert!(git.status().expect("git").success());
                place
            })
            .collect();
        let goes = (0..4).map(|number| sandbox.fifo(&format!("p{number}"))).collect();
        Floor { sandbox, agent, projects, goes }
    }

    fn start(&self, number: usize) -> Running {
        let words = ["run", "a bridge", "--agent-cmd", &self.agent, "--check", CHECK];
        let mut command = self.sandbox.command(&words);
        command.current_dir(&self.projects[number]);
        self.sandbox.start(command)
    }

    /// What the agents have told, in order.
    fn floor(&self) -> Vec<String> {
        self.sandbox.notes("floor")
    }

    fn has_begun(&self, number: usize) -> bool {
        within(LONG, || self.floor().contains(&format!("+ p{number}")))
    }

    fn limits(&self) -> Vec<Value> {
        let done = self.sandbox.run(&["limits", "--json"]);
        let all: Vec<Value> = serde_json::from_str(&done.out).expect("JSON");
        all.into_iter().filter(|it| it["slot"].is_string()).collect()
    }

    fn in_line(&self) -> usize {
        self.limits().iter().filter(|it| it["slot"] == "waits").count()
    }

    fn log(&self, number: usize) -> String {
        let mut command = self.sandbox.command(&["log"]);
        command.current_dir(&self.projects[number]);
        self.sandbox.start(command).wait().out
    }
}

#[test]
fn two_of_four_runs_call_at_once_and_the_oldest_waiter_is_next() {
    let floor = Floor::new();
    let mut runs = Vec::new();
    for number in 0..4 {
        runs.push(floor.start(number));
        // The order in line is the order in which they came.
        let is_there = match number {
            0 | 1 => floor.has_begun(number),
            _ => within(LONG, || floor.in_line() == number - 1),
        };
        assert!(is_there, "run {number}: {:?} {:?}", floor.floor(), floor.limits());
    }
    let shown = floor.sandbox.run(&["limits"]).out;
    assert_eq!(shown.matches("is under way, since ").count(), 2, "{shown}");
    assert_eq!(shown.matches("waits for a call to end, since ").count(), 2, "{shown}");
    let mut status = floor.sandbox.command(&["status"]);
    status.current_dir(&floor.projects[3]);
    let status = floor.sandbox.start(status).wait().out;
    assert!(status.contains("waiting for another run's call to end: 2 of 2 calls of command"), "{status}");
    for (ends, next) in [(1, Some(2)), (2, Some(3)), (0, None), (3, None)] {
        floor.goes[ends].say();
        if let Some(next) = next {
            assert!(floor.has_begun(next), "{:?}", floor.floor());
        }
    }
    for run in runs {
        run.wait().exits(0);
    }
    assert_eq!(&floor.floor()[..6], ["+ p0", "+ p1", "- p1", "+ p2", "- p2", "+ p3"]);
    assert!(floor.limits().is_empty());
    // One wait and one end of it: nobody looked again and again.
    let log = floor.log(3);
    assert_eq!(log.matches("waiting for another run's call").count(), 1, "{log}");
}

/// A call whose controller was killed keeps its slot; one whose shim was killed too gives it back at once.
#[test]
fn a_slot_lives_as_long_as_its_call() {
    let floor = Floor::new();
    let first = floor.start(0);
    assert!(floor.has_begun(0));
    let second = floor.start(1);
    assert!(floor.has_begun(1));
    let third = floor.start(2);
    assert!(within(LONG, || floor.in_line() == 1));
    first.kill();
    assert_eq!((floor.limits().len(), floor.in_line()), (3, 1), "{:?}", floor.limits());
    let is_shim = |line: &str| line.contains("__shim") && !line.contains("sh '");
    let run = floor.limits()[0]["run"].as_str().expect("a run").to_owned();
    let shims = floor.sandbox.processes().into_iter().filter(|it| is_shim(&it.1) && it.1.contains(&run));
    let shims: Vec<i32> = shims.map(|it| it.0).collect();
    assert_eq!(shims.len(), 1, "{:?}", floor.sandbox.processes());
    let killed = Instant::now();
    kill_process(Pid::from_raw(shims[0]).expect("a pid"), Signal::KILL).expect("it lives");
    assert!(floor.has_begun(2), "{:?}", floor.floor());
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(10), "the next one heard of it after {took:?}");
    for number in [0, 1, 2] {
        floor.goes[number].say();
    }
    second.wait().exits(0);
    third.wait().exits(0);
}

/// A run that waits in line can be stopped, and leaves its place.
#[test]
fn who_stops_leaves_the_line() {
    let floor = Floor::new();
    let runs = [floor.start(0), floor.start(1)];
    assert!(floor.has_begun(0) && floor.has_begun(1));
    let mut waiting = floor.start(2);
    assert!(within(LONG, || floor.in_line() == 1));
    waiting.signal(Signal::INT);
    assert!(waiting.ends_within(LONG));
    waiting.wait().exits(130);
    assert_eq!(floor.in_line(), 0);
    let last = floor.start(3);
    assert!(within(LONG, || floor.in_line() == 1));
    floor.goes[0].say();
    assert!(floor.has_begun(3), "{:?}", floor.floor());
    for number in [1, 3] {
        floor.goes[number].say();
    }
    for run in runs.into_iter().chain([last]) {
        run.wait().exits(0);
    }
}

#[test]
fn without_slots_nothing_is_written() {
    let sandbox = Sandbox::new();
    let (begins, goes) = (sandbox.fifo("begins"), sandbox.fifo("goes"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/begins\"\nread go < \"$OUT/goes\"\n{WORK}"));
    let running = sandbox.spawn(&["run", "a bridge", "--agent-cmd", &agent, "--check", CHECK]);
    begins.hear();
    let database = rusqlite::Connection::open(sandbox.home.join("loop.db")).expect("a database");
    let held: i64 = database.query_row("select count(*) from slot", [], |row| row.get(0)).expect("a number");
    assert_eq!(held, 0, "while a call is under way");
    goes.say();
    running.wait().exits(0);
}
