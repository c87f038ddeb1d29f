//! Limits that hold a run: the calls of an hour, and a provider that refuses. Both are kept over a
//! restart, both go on by themselves or by a word, and neither is an iteration.

use loop_harness::{Done, Scripted, until_there};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

fn status(sandbox: &Scripted) -> Value {
    serde_json::from_str(&sandbox.run(&["status", "--json"]).exits(0).out).expect("JSON")
}

/// A stand-in for Claude Code: refused until the moment in the file `until`, else the scripted agent. Where
/// there is no such file, the first call makes it: four seconds from then.
fn refused(sandbox: &Scripted) -> impl Fn(&[&str]) -> Command {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agents/claude/v325-limit-5h.stdout");
    let root = sandbox.root().display().to_string();
    sandbox.program(
        "bin/claude",
        &"#!/bin/sh\ncase \"$1\" in --version) echo '2.1.325 (Claude Code)'; exit;; esac\n\
          [ -f ROOT/until ] || echo $(($(date +%s) + 4)) > ROOT/until\n\
          if [ \"$(date +%s)\" -lt \"$(cat ROOT/until)\" ]; then echo refused >> ROOT/refused; cat > /dev/null; \
          sed \"s/1794747347/$(cat ROOT/until)/\" FIXTURE; exit 1; fi\n\
          ROOT/agent > ROOT/said\npython3 -c 'import json; print(json.dumps({\"type\": \"result\", \"subtype\": \"success\", \
          \"is_error\": False, \"result\": open(\"ROOT/said\").read(), \"num_turns\": 1, \"total_cost_usd\": 0.0, \
          \"session_id\": \"0\", \"usage\": {}}))'\n"
            .replace("ROOT", &root)
            .replace("FIXTURE", fixture),
    );
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let check = format!("tests={}", sandbox.path("check").display());
    move |words: &[&str]| {
        let mut all = words.to_vec();
        if words.len() == 1 {
            all.extend([
                "docs/PRPs/2026-01-13-greetings.md",
                "--preset",
                "tdd",
                "--agent",
                "claude",
                "--check",
                &check,
            ]);
        }
        let mut command = sandbox.command(&all);
        command.env("PATH", &path).env("ANTHROPIC_API_KEY", "anything");
        command
    }
}

fn seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs()
}

#[test]
fn bp78_bp79_a_provider_that_refuses_is_waited_for_over_a_restart() {
    let sandbox = Scripted::with_lines();
    let looper = refused(&sandbox);
    let until = seconds() + 9000;
    sandbox.file("until", until.to_string());
    for _ in 0..2 {
        // The second command finds the wait, and calls nobody.
        Done::of(looper(&["next"]).output().expect("started"));
        assert_eq!(sandbox.text("refused").lines().count(), 1);
    }
    let state = status(&sandbox);
    let waits: jiff::Timestamp = state["limits"]["waiting_until"]
        .as_str()
        .unwrap_or_else(|| panic!("{state:#}"))
        .parse()
        .expect("a time");
    assert!(waits.as_second().abs_diff(until.cast_signed()) <= 60, "{waits}");
    assert_eq!([&state["iterations_total"], &state["calls_total"]], [&json!(0), &json!(1)]);
    assert_eq!(state["breaker"], json!({ "state": "CLOSED", "no_progress": 0, "same_error": 0 }));
    let rate = sandbox.session_json("rate-limit.json");
    let limit = &rate["anthropic_5h"];
    assert_eq!([&limit["detected"], &limit["waiting"]], [&json!(true), &json!(true)]);
    assert_eq!(limit["resume_at"], json!(waits.to_string()));
    assert_eq!(rate["hourly"]["calls_made"], 1);
    let paused = sandbox.session_json("loop-state.json");
    assert_eq!([&paused["status"], &paused["current_iteration"]], [&json!("paused"), &json!(0)]);
}

#[test]
fn a_run_that_was_refused_goes_on_by_itself_also_after_a_crash() {
    let sandbox = Scripted::with_lines();
    let looper = refused(&sandbox);
    let mut child = looper(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    until_there(&sandbox.path("refused"), &mut child);
    child.kill().expect("killed");
    child.wait().expect("ended");
    Done::of(looper(&["run"]).output().expect("started")).exits(0);
    assert_eq!(sandbox.phase_calls().len(), 5, "{:?}", sandbox.phase_calls());
    let rate = sandbox.session_json("rate-limit.json");
    let clear = json!({ "detected": false, "detected_at": null, "resume_at": null, "waiting": false });
    assert_eq!(rate["anthropic_5h"], clear);
    let state = sandbox.session_json("loop-state.json");
    assert_eq!(state["status"], "completed");
    assert!(6 <= state["total_agent_calls"].as_u64().unwrap_or(0), "{state:#}");
}

#[test]
fn bp04_bp75_bp77_the_calls_of_an_hour_are_counted_over_restarts_and_runs() {
    let sandbox = Scripted::with_lines();
    let limited = |words: &[&str]| {
        Done::of(sandbox.driving_lines(words).env("BP_RATE_LIMIT_HOURLY", "3").output().expect("started"))
    };
    sandbox.step("GREEN", "report false </dev/null\n");
    limited(&["--max", "2"]).exits(6);
    let rate = sandbox.session_json("rate-limit.json");
    assert_eq!([&rate["hourly"]["calls_made"], &rate["hourly"]["limit"]], [&json!(2), &json!(3)]);
    let window = rate["hourly"]["window_start"].clone();
    limited(&["--max", "9"]).exits(5);
    let rate = sandbox.session_json("rate-limit.json");
    assert_eq!([&rate["hourly"]["calls_made"], &rate["hourly"]["window_start"]], [&json!(3), &window]);
    // Once more asks nobody and calls nobody.
    let again = limited(&[]).exits(5);
    assert!(again.err.contains("3 of 3 calls used"), "{}", again.err);
    assert_eq!(sandbox.phase_calls().len(), 3);
    // To wait is to sleep until the window is over; a signal ends the sleep and not the wait.
    sandbox.run(&["answer", "wait"]).exits(0);
    let mut child = sandbox
        .driving_lines(&[])
        .env("BP_RATE_LIMIT_HOURLY", "3")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    while status(&sandbox)["limits"]["waiting_until"].is_null() {
        assert!(child.try_wait().expect("a child").is_none(), "it did not wait");
    }
    let told = sandbox.furnished("kill", &["-s", "TERM", &child.id().to_string()]).status().expect("kill");
    assert!(told.success());
    assert_eq!(child.wait().expect("ended").code(), Some(143));
    assert_eq!(sandbox.phase_calls().len(), 3);
    assert_eq!(status(&sandbox)["limits"]["waiting_until"], rate["hourly"]["next_reset"]);

    // Another run of the project shares the hour.
    let other = Scripted::with_lines();
    other.step("GREEN", "report false </dev/null\n");
    other.drive_lines(&["--max", "2"]).exits(6);
    let fresh = other.driving_lines(&["--fresh", "--allow-dirty"]).env("BP_RATE_LIMIT_HOURLY", "2").output();
    let fresh = Done::of(fresh.expect("started")).exits(5);
    assert!(fresh.err.contains("2 of 2 calls used"), "{}", fresh.err);
    assert_eq!(other.phase_calls().len(), 2);
    other.run(&["answer", "abort"]).exits(0);
    let aborted = other.driving_lines(&[]).env("BP_RATE_LIMIT_HOURLY", "2").output().expect("started");
    let aborted = Done::of(aborted).exits(5);
    assert!(aborted.err.contains("aborted by user"), "{}", aborted.err);
}

#[test]
fn a_limit_that_is_no_number_is_refused() {
    let sandbox = Scripted::with_lines();
    for word in ["many", "-1", "0"] {
        let done = sandbox.driving_lines(&[]).env("BP_RATE_LIMIT_HOURLY", word).output().expect("started");
        let done = Done::of(done).exits(2);
        assert!(done.err.contains("BP_RATE_LIMIT_HOURLY"), "{word}: {}", done.err);
        assert_eq!(sandbox.phase_calls(), Vec::<String>::new());
    }
}
