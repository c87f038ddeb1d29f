//! SIGKILL in each state that a call can be in, not at random: before its claim, between claim and
//! start, while it works, after its exit, and while its outcome is being committed. However it was
//! hit, each call starts once, its result is collected, and nothing of it is left.

use loop_harness::{COMMIT, PROMISE, Running, Sandbox, times, within};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

/// How often each state is hit in one run of the tests; `LOOP_TEST_TIMES=10` makes it forty.
const EACH: u32 = 4;

const LONG: Duration = Duration::from_secs(60);

/// The agent stops at a pipe while it works.
const AT_A_PIPE: &str = "echo here > \"$OUT/at\"; read x < \"$OUT/go\"";

struct Scene {
    sandbox: Sandbox,
    agent: String,
}

impl Scene {
    fn new(script: &str) -> Scene {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(&format!("{script}; echo \"$LOOP_CALL\" >> steps; {COMMIT}; {PROMISE}"));
        Scene { sandbox, agent }
    }

    /// Puts a git first in PATH that waits at this command while the note `hold` is there, and does nothing then.
    fn hold_git_at(&mut self, command: &str) {
        let path = std::env::var_os("PATH").expect("a path");
        let git = std::env::split_paths(&path).map(|it| it.join("git")).find(|it| it.exists());
        let out = self.sandbox.root().join("out");
        let script = format!(
            "#!/bin/sh\ncase \" $* \" in *\" {command} \"*)\n[ -e '{out}/hold' ] && {{ echo > '{out}/at'; \
             read x < '{out}/go'; exit 1; }} ;;\nesac\nexec '{git}' \"$@\"\n",
            out = out.display(),
            git = git.expect("git").display(),
        );
        self.sandbox.program("bin/git", &script);
        self.sandbox.path_first.push(self.sandbox.path("bin"));
    }

    fn command(&self) -> [&str; 6] {
        ["run", "count to two", "--agent-cmd", &self.agent, "--check", "tests=[ $(wc -l < steps) -ge 2 ]"]
    }

    fn start(&self) -> Running {
        self.sandbox.spawn(&self.command())
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(fs::read_dir(self.sandbox.home.join("runs")).ok()?.flatten().next()?.path())
    }

    fn shim(&self) -> Option<Pid> {
        let text = fs::read(self.folder()?.join("shim-1")).ok()?;
        let shim: serde_json::Value = serde_json::from_slice(&text).ok()?;
        Pid::from_raw(i32::try_from(shim["pid"].as_i64()?).ok()?)
    }

    /// The next controller brings it to its end.
    fn goes_on(&self) {
        self.sandbox.run(&self.command()).exits(0);
        assert_eq!(self.sandbox.calls(), [1, 2], "each call starts once");
        let status = self.sandbox.status();
        let counts = (&status["status"], &status["calls_total"], &status["iterations_total"]);
        assert_eq!(counts, (&"completed".into(), &2.into(), &2.into()));
        assert_eq!(self.sandbox.subjects(), ["the beginning", "call 1", "call 2"]);
        let lost = self.sandbox.events().iter().filter(|it| it.to_string().contains("\"lost\"")).count();
        assert_eq!(lost, 0, "every result is collected");
        self.sandbox.assert_nothing_runs();
        self.sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    }
}

/// The intent is in the journal, and the shim has not heard of it: the snapshot of the tree, which comes
/// between the two, waits for a git that stands still.
#[test]
fn g6_killed_between_intent_and_claim() {
    for _ in 0..EACH * times() {
        let mut scene = Scene::new("[ \"$LOOP_CALL\" = 1 ] && touch \"$OUT/hold\"");
        let (at, go) = (scene.sandbox.fifo("at"), scene.sandbox.fifo("go"));
        scene.hold_git_at("update-ref");
        let running = scene.start();
        at.hear();
        assert_eq!(scene.sandbox.status()["calls_total"], 2);
        assert!(!scene.folder().expect("a run").join("call-2.out").exists());
        running.kill();
        fs::remove_file(scene.sandbox.note("hold")).expect("the agent's note");
        go.say();
        scene.goes_on();
    }
}

/// The shim has the right to start the call and has not used it: it is stopped as soon as the claim
/// is seen. Where it was faster, the call runs, which is the next state; the hits are counted.
#[test]
fn g6_killed_between_claim_and_start() {
    let (mut hits, mut tries) = (0, 0);
    while hits < EACH * times() && tries < 3 * EACH * times() {
        tries += 1;
        let scene = Scene::new(":");
        // Looking for the program in thousands of folders takes the shim some time.
        let path = "/x:".repeat(8_000) + &std::env::var("PATH").expect("a path");
        let mut command = scene.sandbox.command(&scene.command());
        command.env("PATH", path);
        let running = scene.sandbox.start(command);
        let claimed = || scene.folder().is_some_and(|it| it.join("call-1.out").exists());
        assert!(within(LONG, claimed));
        let shim = scene.shim().expect("a shim before its claim");
        kill_process(shim, Signal::STOP).expect("it is ours");
        running.kill();
        hits += u32::from(scene.sandbox.calls().is_empty());
        kill_process(shim, Signal::CONT).expect("it is ours");
        scene.goes_on();
    }
    println!("{hits} of {tries} were hit before the start");
    assert!(0 < hits);
}

#[test]
fn g6_killed_while_the_agent_works() {
    for _ in 0..EACH * times() {
        let scene = Scene::new(&format!("[ \"$LOOP_CALL\" = 1 ] && {{ {AT_A_PIPE}; }}"));
        let (at, go) = (scene.sandbox.fifo("at"), scene.sandbox.fifo("go"));
        let running = scene.start();
        at.hear();
        running.kill();
        go.say();
        scene.goes_on();
    }
}

/// The agent has exited and the shim has recorded it, while the controller was stopped.
#[test]
fn g6_killed_between_exit_and_collection() {
    for _ in 0..EACH * times() {
        let scene = Scene::new(&format!("[ \"$LOOP_CALL\" = 1 ] && {{ {AT_A_PIPE}; }}"));
        let (at, go) = (scene.sandbox.fifo("at"), scene.sandbox.fifo("go"));
        let running = scene.start();
        at.hear();
        running.signal(Signal::STOP);
        go.say();
        let record = scene.folder().expect("a run").join("calls.log");
        let is_recorded = |it: String| it.contains("\"stem\":\"call-1\"");
        assert!(within(LONG, || fs::read_to_string(&record).is_ok_and(is_recorded)));
        running.kill();
        scene.goes_on();
    }
}

/// The controller has the outcome and waits for its turn to write it down.
#[test]
fn g6_killed_while_the_outcome_is_committed() {
    for _ in 0..EACH * times() {
        let scene = Scene::new(&format!("[ \"$LOOP_CALL\" = 1 ] && {{ {AT_A_PIPE}; }}"));
        let (at, go) = (scene.sandbox.fifo("at"), scene.sandbox.fifo("go"));
        let running = scene.start();
        at.hear();
        let turnstile = File::open(scene.sandbox.home.join("turnstile")).expect("a turnstile");
        flock(&turnstile, FlockOperation::LockExclusive).expect("ours");
        go.say();
        // The kernel lists who waits for a lock.
        let waits = format!(" {} ", running.child.id());
        let locks = || fs::read_to_string("/proc/locks").unwrap_or_default();
        assert!(within(LONG, || locks().lines().any(|it| it.contains("->") && it.contains(&waits))));
        running.kill();
        drop(turnstile);
        scene.goes_on();
    }
}
