//! SIGKILL at random moments. However often a controller dies, the next one goes on: the run ends
//! as an uninterrupted one does, and no call is started twice.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, SeededRandom, WORK, times};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const KILLS: u32 = 20;
const CALLS: u32 = 6;

#[test]
fn en01_killed_at_random_moments_it_ends_as_if_it_had_not_been() {
    let seed = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()) * 0x9e37_79b9 + 1);
    println!("LOOP_TEST_SEED={seed}");
    let mut dice = SeededRandom::new(seed);
    let expected = result(&whole_run());
    let mut kills = 0;
    while kills < KILLS * times() {
        let sandbox = Sandbox::new();
        let agent = agent(&sandbox);
        let before = kills;
        loop {
            let mut running = sandbox.spawn(&command(&agent));
            // On a busy machine a controller needs longer to bring anything forward.
            let moment = Duration::from_micros(dice.below(160_000 * (1 + u64::from(kills - before) / 20)));
            if running.ends_within(moment) {
                running.wait().exits(0);
                break;
            }
            running.kill();
            kills += 1;
            sandbox.run(&["status", "--json"]).exits(0);
        }
        assert_eq!(result(&sandbox), expected, "seed {seed}, after {kills} kills");
        sandbox.assert_nothing_runs();
        sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    }
}

fn agent(sandbox: &Sandbox) -> String {
    sandbox.agent(&format!("echo \"$LOOP_CALL\" >> steps; {COMMIT}; {PROMISE}"))
}

fn command(agent: &str) -> [&str; 6] {
    ["run", "count to six", "--agent-cmd", agent, "--check", "tests=cat steps; [ $(wc -l < steps) -ge 6 ]"]
}

fn whole_run() -> Sandbox {
    let sandbox = Sandbox::new();
    let agent = agent(&sandbox);
    sandbox.run(&command(&agent)).exits(0);
    sandbox
}

/// What a run came to, without times and names.
fn result(sandbox: &Sandbox) -> Value {
    let status = sandbox.status();
    let phases: Vec<Value> = status["phases"]
        .as_array()
        .expect("phases")
        .iter()
        .map(|it| json!([it["name"], it["status"], it["iterations"]]))
        .collect();
    json!({
        "status": status["status"], "iterations": status["iterations_total"], "calls": status["calls_total"],
        "verified": status["verified"], "warnings": status["warnings"], "phases": phases,
        "subjects": sandbox.subjects(), "started": sandbox.calls(), "runs": sandbox.run(&["runs"]).out.lines().count(),
    })
}

#[test]
fn en01_the_uninterrupted_run_is_what_it_is_taken_for() {
    let result = result(&whole_run());
    assert_eq!(result["status"], "completed");
    assert_eq!(result["started"], json!((1..=CALLS).collect::<Vec<u32>>()));
}

/// The controller and its shim die together, as in a crash of the machine that spares the agent: the
/// call is lost, recorded as such, and never started again.
#[test]
fn g10_a_call_whose_keepers_both_died_is_lost_and_not_repeated() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "[ \"$LOOP_CALL\" = 1 ] && {{ echo here > \"$OUT/at\"; read x < \"$OUT/go\"; }}; {WORK}"
    ));
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", CHECK];
    let running = sandbox.spawn(&command);
    at.hear();
    let shim = sandbox.processes().into_iter().find(|(_, line)| line.contains("__shim")).expect("a shim");
    running.kill();
    let shim = rustix::process::Pid::from_raw(shim.0).expect("a pid");
    rustix::process::kill_process(shim, rustix::process::Signal::KILL).expect("it is ours");
    let began = Instant::now();
    sandbox.run(&command).exits(0);
    assert!(began.elapsed() < Duration::from_secs(10));
    drop(go);
    assert_eq!(sandbox.calls(), [1, 2]);
    let status = sandbox.status();
    assert_eq!((&status["calls_total"], &status["iterations_total"]), (&2.into(), &2.into()));
    let breaker = &status["breaker"];
    assert_eq!((&breaker["no_progress"], &breaker["same_error"]), (&0.into(), &0.into()), "{breaker}");
    sandbox.run(&["log"]).says("lost");
    sandbox.assert_nothing_runs();
}

/// Every commit ends in a sync, so dying at each sync in turn is dying at each boundary. The campaign
/// takes each one, else it is every third.
#[test]
fn en01_killed_at_every_sync_it_ends_as_if_it_had_not_been() {
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        return loop_harness::skipped("en01_killed_at_every_sync", "strace is not installed");
    }
    let whole = |sandbox: &Sandbox| {
        let agent = sandbox.agent(&format!("echo \"$LOOP_CALL\" >> steps; {COMMIT}; {PROMISE}"));
        ["run", "count", "--agent-cmd", &agent, "--check", "tests=cat steps; [ $(wc -l < steps) -ge 2 ]"]
            .map(str::to_owned)
    };
    let unhurt = Sandbox::new();
    let command = whole(&unhurt);
    unhurt.run(&command.each_ref().map(String::as_str)).exits(0);
    let expected = result(&unhurt);
    let step = if 1 < times() { 1 } else { 3 };
    let mut number = 1;
    loop {
        let sandbox = Sandbox::new();
        let command = whole(&sandbox);
        let mut traced = std::process::Command::new("strace");
        sandbox.furnish(&mut traced);
        traced.args(["-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e"]);
        traced.arg(format!("inject=fsync,fdatasync:signal=SIGKILL:when={number}"));
        traced.arg(loop_harness::program()).args(&command).current_dir(&sandbox.project);
        let done = sandbox.start(traced).wait();
        if done.code == 0 {
            assert!(5 < number, "only {number} syncs were seen");
            return;
        }
        assert!(matches!(done.code, 1009 | 137), "sync {number}: {done:?}");
        sandbox.run(&command.each_ref().map(String::as_str)).exits(0);
        assert_eq!(result(&sandbox), expected, "killed at sync {number}");
        sandbox.assert_nothing_runs();
        number += step;
    }
}
