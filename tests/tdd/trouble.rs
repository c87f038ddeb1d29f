//! What goes wrong: agents that lie, tests that come and go, work that gets nowhere, reviews that
//! reject, signals and limits. The files of the session say it in their own words.

use loop_harness::{Done, Scripted, until_there};
use serde_json::{Value, json};
use std::process::Stdio;

fn state(sandbox: &Scripted) -> Value {
    sandbox.session_json("loop-state.json")
}

/// Takes these keys out of an object, as a list.
fn keys<const N: usize>(object: &Value, names: [&str; N]) -> [Value; N] {
    names.map(|it| object[it].clone())
}

#[test]
fn bp32_a_liar_does_not_leave_green() {
    let sandbox = Scripted::with_lines();
    let claims = "TESTS:\\n  TOTAL: 2\\n  PASSING: 2\\n  FAILING: 0\\n  SKIPPED: 0\\n";
    sandbox.step("GREEN", &format!("echo greets > done.txt; printf '{claims}' | report true\n"));
    sandbox.drive_lines(&["--allow-dirty"]).exits(4);
    let gate = sandbox.session_json("dual-gate.json");
    assert_eq!(keys(&gate, ["phase", "can_exit"]), [json!("GREEN"), json!(false)]);
    assert_eq!(keys(&gate["gate_1"], ["satisfied"]), [json!(false)]);
    assert_eq!(gate["gate_1"]["values"]["tests_failing"], 1);
    assert_eq!(gate["gate_2"], json!({ "satisfied": true, "source": "explicit_signal" }));
    let status: Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!(status["metrics"]["tests_passing"], json!({ "value": 1, "source": "measured", "claimed": 2 }));
    assert!(
        sandbox.text("prompts/3").contains("failing tests: the agent claimed 0"),
        "{}",
        sandbox.text("prompts/3")
    );
}

#[test]
fn a_test_that_comes_and_goes_is_caught_by_the_second_run() {
    let sandbox = Scripted::with_lines();
    // In GREEN every second run of the check fails.
    let check = sandbox.text("check").replace(
        "#!/bin/sh\n",
        "#!/bin/sh\nif [ -s done.txt ]; then if [ -e ../odd ]; then rm ../odd; echo '1..2'; echo 'ok 1 - a'; \
         echo 'not ok 2 - b'; exit 1; else touch ../odd; fi; fi\n",
    );
    sandbox.program("check", &check);
    sandbox.drive_lines(&[]).exits(4);
    let gate = sandbox.session_json("dual-gate.json");
    assert_eq!(gate["gate_1"]["values"]["consecutive_green_runs"], 0);
    assert_eq!(
        keys(&state(&sandbox), ["current_phase", "phases_completed"]),
        [json!("GREEN"), json!(["RED"])]
    );
}

#[test]
fn bp56_bp65_a_stuck_phase_halts_and_guidance_helps() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "report false </dev/null\n");
    let halted = sandbox.drive_lines(&[]).exits(4);
    assert!(halted.err.contains("next: loop answer reset|skip|abort|modify"), "{}", halted.err);
    let first = state(&sandbox);
    assert_eq!(
        keys(&first, ["status", "current_phase", "current_iteration"]),
        [json!("halted"), json!("GREEN"), json!(3)]
    );
    let reason = first["halt_reason"].as_str().expect("a reason");
    assert!(reason.starts_with("GREEN: the same error 3 times in a row: tests: "), "{reason}");
    let breaker = sandbox.session_json("circuit-breaker.json");
    assert_eq!(
        keys(&breaker, ["state", "no_progress_count", "open_reason"]),
        [json!("OPEN"), json!(2), json!("the same error 3 times in a row")]
    );
    assert!(breaker["opened_at"].is_string(), "{breaker:#}");
    let history = breaker["history"].as_array().expect("a history");
    let last = history.iter().rev().find(|it| it["event"] == "state_change").expect("a change");
    assert_eq!(keys(last, ["from_state", "to_state"]), [json!("CLOSED"), json!("OPEN")]);
    let log = sandbox.session("phase-status.log");
    let blocks: Vec<&str> = log.split("---PRP_PHASE_STATUS---\n").skip(1).collect();
    let blocked: Vec<bool> = blocks.iter().map(|it| it.contains("\nSTATUS: BLOCKED\n")).collect();
    assert_eq!(blocked, [false, false, false, true]);

    sandbox.run(&["resume"]).exits(4);
    sandbox.run(&["answer", "modify", "use the other library"]).exits(0);
    sandbox.step("5", "printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n");
    sandbox.drive_lines(&[]).exits(0);
    assert!(sandbox.text("prompts/5").contains("use the other library"), "{}", sandbox.text("prompts/5"));
    let breaker = sandbox.session_json("circuit-breaker.json");
    assert_eq!(
        keys(&breaker, ["state", "opened_at", "open_reason"]),
        [json!("CLOSED"), json!(null), json!(null)]
    );
    assert!(sandbox.session("phase-status.log").starts_with(&log), "old bytes stay");
}

#[test]
fn bp65_a_skipped_phase_is_completed_with_warnings() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    sandbox.run(&["answer", "skip"]).exits(0);
    sandbox.step("REFACTOR", "printf 'greets\\nworld\\n' > done.txt; commit late; printf 'METRICS:\\n  REFACTORING_COMPLETE: true\\n' | report true\n");
    sandbox.drive_lines(&[]).exits(0);
    let state = state(&sandbox);
    assert_eq!(
        keys(&state, ["status", "phases_skipped", "verified"]),
        [json!("completed"), json!(["GREEN"]), json!(false)]
    );
    let green = &state["phase_history"]["GREEN"];
    assert_eq!(keys(green, ["exit_reason", "forced_exit"]), [json!("skipped by user"), json!(true)]);
    assert_eq!(state["phases_completed"], json!(["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"]));
}

#[test]
fn bp84_a_review_sends_the_work_back_twice_and_then_asks() {
    let sandbox = Scripted::with_lines();
    let reject = "report true <<E\nQA_METRICS:\n  CHECKS_TOTAL: 11\n  CHECKS_PASSING: 9\n  CHECKS_FAILING: 2\n  \
        BLOCKING_ISSUES: 1\n  WARNING_ISSUES: 1\nVERDICT: REJECT\nBLOCKERS:\n  - greets nobody\nE\n";
    sandbox.step("QA", reject);
    sandbox.drive_lines(&[]).exits(3);
    let calls: Vec<String> =
        sandbox.phase_calls().iter().map(|it| it.split(' ').next().unwrap_or("").to_owned()).collect();
    assert_eq!(calls, ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA", "GREEN", "QA", "GREEN", "QA"]);
    assert!(sandbox.text("prompts/6").contains("greets nobody"), "{}", sandbox.text("prompts/6"));
    assert!(sandbox.text("prompts/7").contains("This is attempt 2 of 3"));
    let asked = state(&sandbox);
    assert_eq!(
        keys(&asked, ["status", "current_phase", "qa_attempts"]),
        [json!("paused"), json!("QA"), json!(2)]
    );
    assert_eq!(asked["pause_reason"], "QA rejected the work 3 times");
    assert_eq!(asked["phases_completed"], json!(["RED", "GREEN", "REFACTOR", "DOCUMENT"]));
    for number in 1..=3 {
        let report = sandbox.session(&format!("qa-report-{number}.md"));
        assert!(
            report.contains(&format!("- attempt: {number} of 3\n")) && report.contains("- greets nobody\n"),
            "{report}"
        );
    }
    sandbox.step("QA", "report true <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 0\nVERDICT: APPROVE\nE\n");
    sandbox.run(&["answer", "fix", "greet somebody"]).exits(0);
    sandbox.drive_lines(&[]).exits(0);
    assert!(sandbox.text("prompts/10").contains("greet somebody"));
    assert_eq!(keys(&state(&sandbox), ["status", "qa_attempts"]), [json!("completed"), json!(0)]);
    assert!(sandbox.session("qa-report-4.md").contains("## Verdict\n\nAPPROVE\n"));
}

#[test]
fn bp18_a_signal_pauses_and_the_run_goes_on_later() {
    let sandbox = Scripted::with_lines();
    for (signal, exit, reason) in [("INT", 130, "User interrupt"), ("TERM", 143, "Graceful shutdown")] {
        sandbox.step("GREEN", "touch ../here; exec sleep 600\n");
        let mut child = sandbox
            .driving_lines(&[])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        until_there(&sandbox.path("here"), &mut child);
        let killed =
            sandbox.furnished("kill", &["-s", signal, &child.id().to_string()]).status().expect("kill");
        assert!(killed.success());
        Done::of(child.wait_with_output().expect("ended")).exits(exit);
        let state = state(&sandbox);
        assert_eq!(
            keys(&state, ["status", "pause_reason", "current_phase", "current_iteration"]),
            [json!("paused"), json!(reason), json!("GREEN"), json!(0)]
        );
        assert!(state["paused_at"].is_string(), "{state:#}");
        std::fs::remove_file(sandbox.path("here")).expect("removed");
    }
    sandbox.step("GREEN", "printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n");
    sandbox.drive_lines(&[]).exits(0);
    let state = state(&sandbox);
    assert_eq!(keys(&state, ["status", "total_agent_calls"]), [json!("completed"), json!(7)]);
    assert!(state["resumed_at"].is_string() && state.get("paused_at").is_none(), "{state:#}");
    assert_eq!(sandbox.session("phase-status.log").matches("---PRP_PHASE_STATUS---").count(), 5);
}

#[test]
fn bp73_after_a_crash_the_log_has_each_iteration_once() {
    let sandbox = Scripted::with_lines();
    let green = sandbox.text("steps/GREEN");
    sandbox.pipe("go");
    sandbox.step("GREEN", &format!("touch ../here; read it < ../go; {green}"));
    let mut child = sandbox.started_lines();
    child.kill().expect("killed");
    child.wait().expect("ended");
    let log = sandbox.session("phase-status.log");
    assert_eq!(log.matches("---PRP_PHASE_STATUS---").count(), 1);
    // What a crash in the middle of an append leaves.
    sandbox.file("user/.bp-sessions/project/phase-status.log", &log[..log.len() / 2]);
    // Waits until the call, which outlived its controller, reads.
    std::fs::write(sandbox.path("go"), "go\n").expect("written");
    sandbox.drive_lines(&[]).exits(0);
    let whole = sandbox.session("phase-status.log");
    assert!(whole.starts_with(&log), "{whole}");
    assert_eq!(whole.matches("---PRP_PHASE_STATUS---").count(), 5);
    assert_eq!(sandbox.phase_calls().len(), 5);
}

#[test]
fn bp74_the_hourly_limit_pauses() {
    let sandbox = Scripted::with_lines();
    let limited = |sandbox: &Scripted, more: &[&str]| {
        Done::of(sandbox.driving_lines(more).env("BP_RATE_LIMIT_HOURLY", "2").output().expect("started"))
    };
    sandbox.step("GREEN", "report false </dev/null\n");
    limited(&sandbox, &[]).exits(5);
    let rate = sandbox.session_json("rate-limit.json");
    assert_eq!(keys(&rate["hourly"], ["calls_made", "limit"]), [json!(2), json!(2)]);
    assert_eq!(keys(&rate, ["paused"]), [json!(true)]);
    assert!(rate["pause_reason"].is_string() && rate["paused_at"].is_string(), "{rate:#}");
    assert_eq!(keys(&state(&sandbox), ["status", "total_agent_calls"]), [json!("paused"), json!(2)]);
    sandbox.run(&["answer", "continue"]).exits(0);
    limited(&sandbox, &[]).exits(4);
    assert_eq!(sandbox.session_json("rate-limit.json")["hourly"]["calls_made"], 4);
}

#[test]
fn caps_and_cancelling_read_as_halted() {
    let sandbox = Scripted::with_lines();
    sandbox.drive_lines(&["--max", "2"]).exits(6);
    assert_eq!(
        keys(&state(&sandbox), ["status", "halt_reason"]),
        [json!("halted"), json!("2 of 2 iterations used")]
    );
    sandbox.run(&["cancel"]).exits(0);
    assert_eq!(
        keys(&state(&sandbox), ["status", "halt_reason"]),
        [json!("halted"), json!("aborted by user")]
    );
}

#[test]
fn bp91_the_status_says_where_it_stands() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "echo greets > done.txt; commit half; report false </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    let shown = sandbox.run(&["status"]).exits(0).out;
    assert!(shown.contains("[GREEN] iteration 3 | 1/2 tests passing | status: halted"), "{shown}");
    assert!(shown.contains("RED       completed, 1 iteration"), "{shown}");
    assert!(shown.contains("DOCUMENT  pending"), "{shown}");
    assert!(shown.contains("23 %"), "{shown}");
}
