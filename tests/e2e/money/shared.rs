//! A cap that all runs of a home share.

use super::{Till, result};
use loop_harness::Running;
use std::path::PathBuf;
use std::process::Command;

/// Eight runs at once, each of which would spend a dollar, have one dollar in all.
#[test]
fn g30_eight_runs_in_parallel_keep_one_cap() {
    let till = Till::new("claude", &result("\"total_cost_usd\":0.1"), "");
    till.configure("config.toml", "[limits]\nday_usd = 1.0\n");
    let projects: Vec<PathBuf> = (0..8)
        .map(|number| {
            let place = till.sandbox.root().join(format!("copy-{number}"));
            let mut git = Command::new("git");
            till.sandbox.furnish(&mut git);
            git.args(["clone", "-q", "."]).arg(&place).current_dir(&till.sandbox.project);
            assert!(git.status().expect("git").success());
            place
        })
        .collect();
    let runs: Vec<Running> = projects
        .iter()
        .map(|place| {
            let words = ["run", "a bridge", "--agent", "claude", "--unverified", "--max", "10"];
            let mut command = till.sandbox.command(&words);
            command.current_dir(place);
            till.sandbox.start(command)
        })
        .collect();
    for run in runs {
        run.wait().exits(5).says("the budget of $1.00 for today is used up by the runs of this home");
    }
    let spent = till.count("select sum(micro_usd) from spend");
    let calls = till.sandbox.notes("argv").len() as i64;
    println!("8 runs: {calls} calls, {spent} millionths of a dollar");
    assert_eq!(spent, calls * 100_000, "every call is counted once");
    // Before a run has a cost of its own it sets nothing aside, so each may have one call in flight.
    assert!((1_000_000..=1_800_000).contains(&spent), "{spent}");
    assert_eq!(till.count("select count(*) from reservation"), 0);
    let mut again = till.sandbox.command(&["run", "a bridge", "--agent", "claude", "--unverified"]);
    again.current_dir(&projects[0]);
    till.sandbox.start(again).wait().exits(5).says("a new day begins at midnight");
    assert_eq!(till.sandbox.notes("argv").len() as i64, calls, "no further call");
}

#[test]
fn without_a_shared_cap_nothing_is_set_aside() {
    let till = Till::new("claude", &result("\"total_cost_usd\":0.1"), "");
    till.run("claude", &["--max", "1", "--budget", "5"]).exits(6);
    let (begins, goes) = (till.sandbox.fifo("begins"), till.sandbox.fifo("goes"));
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\necho here > '{}'\nread go < '{}'\n{}",
        till.sandbox.note("begins").display(),
        till.sandbox.note("goes").display(),
        result("\"total_cost_usd\":0.1")
    );
    till.sandbox.program("bin/claude", &script);
    let words = ["run", "a bridge", "--agent", "claude", "--unverified", "--max", "2"];
    let running = till.sandbox.spawn(&words);
    begins.hear();
    assert_eq!(till.count("select count(*) from reservation"), 0, "while a call is under way");
    goes.say();
    running.wait().exits(6);
    assert_eq!(till.sandbox.status()["calls_total"], 2);
}

/// A controller that dies between the reservation and the call leaves an amount that the next owner voids.
#[test]
fn what_was_set_aside_for_a_call_that_never_began_is_voided() {
    let till = Till::new("claude", &result("\"total_cost_usd\":0.1"), "day_usd = 1");
    till.run("claude", &["--max", "1"]).exits(6);
    let run = till.sandbox.status()["run"].as_str().expect("an id").to_owned();
    let database = rusqlite::Connection::open(till.sandbox.home.join("loop.db")).expect("a database");
    let left = "insert into reservation select ?1, 2, 1, day, 900000, 0 from spend limit 1";
    database.execute(left, [&run]).expect("a row");
    drop(database);
    till.run("claude", &["--max", "3"]).exits(6);
    assert_eq!(till.sandbox.status()["calls_total"], 3);
    assert_eq!(till.count("select count(*) from reservation"), 0);
}
