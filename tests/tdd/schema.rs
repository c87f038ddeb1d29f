//! Every field of every file of a session, by name and type, in every state that a run passes
//! through. A field that is missing, has another type, or that nobody knows, fails here.

use loop_harness::Scripted;
use serde_json::Value;

/// `name type`, one a line; `?` after the name: it may be missing; `|null`: it may be null. `ours` are
/// keys that the format does not have.
const STATE: &str = "session_id uuid\nprp_file text\nstarted_at time\ncurrent_phase phase\ncurrent_iteration count\n\
    green_model? text\nlast_activity time\nstatus status\nhalt_reason text|null\npause_reason? text\npaused_at? time\n\
    resumed_at? time\ncompleted_at? time\nphases_completed list\nphase_history object\nerror_history list\n\
    total_agent_calls count\nqa_attempts count\nphases_skipped list\nverified bool\nproject text";
const PAST: &str = "started_at time\ncompleted_at time|null\niterations count\nexit_reason? text\nvisits count\n\
    forced_exit? bool";
const ERROR: &str = "timestamp time\nphase phase\niteration count\nerror text\nhash hash";
const BREAKER: &str = "state text\nno_progress_count count\nsame_error_count count\nlast_progress_metric object\n\
    last_error_hash hash|null\nopened_at time|null\nopen_reason text|null\nhistory list";
const BREAKER_ENTRY: &str = "timestamp time\nevent text\nfrom_state text\nto_state text\nreason text";
const RATE: &str =
    "hourly object\nanthropic_5h object\npaused bool\npause_reason text|null\npaused_at time|null";
const HOURLY: &str = "calls_made count\nlimit count\nwindow_start time\nnext_reset time";
const PROVIDER: &str = "detected bool\ndetected_at time|null\nresume_at time|null\nwaiting bool";
const METRICS: &str = "session_id uuid\nprp_file text\nstarted_at time\ncurrent_phase phase\nphases object";
const PHASE: &str = "started_at time\ncompleted_at time|null\niterations count\nfinal_metrics? object\n\
    current_metrics? object\nhistory list";
const GATE: &str = "phase phase\niteration count\ngate_1 object\ngate_2 object\ncan_exit bool\ntimestamp time\n\
    evaluated_at time";
const GATE_1: &str = "satisfied bool\ncondition text\nvalues object";
const GATE_2: &str = "satisfied bool\nsource text";
const REVIEW: &str =
    "attempt count\nmax_attempts count\nlast_verdict text\nreport_path text\nmemory_context object";

fn is(value: &Value, kind: &str) -> bool {
    let text = value.as_str();
    match kind {
        "text" => text.is_some_and(|it| !it.is_empty()),
        "time" => text.is_some_and(|it| it.ends_with('Z') && it.parse::<jiff::Timestamp>().is_ok()),
        "uuid" => text.is_some_and(|it| uuid::Uuid::parse_str(it).is_ok_and(|it| it.get_version_num() == 4)),
        "hash" => text.is_some_and(|it| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit())),
        "phase" => text.is_some_and(|it| ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"].contains(&it)),
        "status" => text.is_some_and(|it| ["running", "paused", "completed", "halted"].contains(&it)),
        "count" => value.is_u64(),
        "bool" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("no type is called {other}"),
    }
}

#[track_caller]
fn fits(value: &Value, schema: &str) {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    let mut known = Vec::new();
    for line in schema.lines() {
        let (name, kinds) = line.trim().split_once(' ').expect("name and type");
        let may_be_missing = name.ends_with('?');
        let name = name.trim_end_matches('?');
        known.push(name);
        match object.get(name) {
            Some(it) => assert!(kinds.split('|').any(|kind| is(it, kind)), "{name} is {it}, not {kinds}"),
            None => assert!(may_be_missing, "{name} is missing in {value:#}"),
        }
    }
    let unknown: Vec<&String> = object.keys().filter(|it| !known.contains(&it.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?} in {value:#}");
}

fn each<'a>(value: &'a Value, name: &str) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
    match &value[name] {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(map) => Box::new(map.values()),
        other => panic!("{name} holds nothing: {other}"),
    }
}

/// Compares what lies there; a gate and a review are there once one was judged.
#[track_caller]
fn compare(sandbox: &Scripted, status: &str, is_judged: bool, is_reviewed: bool) {
    let state = sandbox.session_json("loop-state.json");
    assert_eq!(state["status"], status, "{state:#}");
    fits(&state, STATE);
    each(&state, "phase_history").for_each(|it| fits(it, PAST));
    each(&state, "error_history").for_each(|it| fits(it, ERROR));
    assert_eq!(state["halt_reason"].is_string(), status == "halted");
    assert_eq!(state.get("pause_reason").is_some(), status == "paused");
    assert_eq!(state.get("paused_at").is_some(), status == "paused");
    assert_eq!(state.get("completed_at").is_some(), status == "completed");
    let breaker = sandbox.session_json("circuit-breaker.json");
    fits(&breaker, BREAKER);
    each(&breaker, "history").for_each(|it| fits(it, BREAKER_ENTRY));
    assert_eq!(breaker["state"] == "OPEN", breaker["open_reason"].is_string());
    assert_eq!(breaker["state"] == "OPEN", breaker["opened_at"].is_string());
    let rate = sandbox.session_json("rate-limit.json");
    fits(&rate, RATE);
    fits(&rate["hourly"], HOURLY);
    fits(&rate["anthropic_5h"], PROVIDER);
    let metrics = sandbox.session_json("metrics.json");
    fits(&metrics, METRICS);
    each(&metrics, "phases").filter(|it| !it.is_null()).for_each(|it| fits(it, PHASE));
    assert_eq!(sandbox.path("user/.bp-sessions/project/dual-gate.json").exists(), is_judged);
    if is_judged {
        let gate = sandbox.session_json("dual-gate.json");
        fits(&gate, GATE);
        fits(&gate["gate_1"], GATE_1);
        fits(&gate["gate_2"], GATE_2);
    }
    assert_eq!(sandbox.path("user/.bp-sessions/project/qa-state.json").exists(), is_reviewed);
    if is_reviewed {
        let review = sandbox.session_json("qa-state.json");
        fits(&review, REVIEW);
        let report = sandbox.session(review["report_path"].as_str().expect("a name"));
        for part in
            ["# QA report: 2026-01-13-greetings", "- PRP: ", "- time: ", "- attempt: ", "- reviewer: "]
        {
            assert!(report.contains(part), "{part}: {report}");
        }
        for part in ["- implementer: ", "## Verdict", "## Metrics", "## Blocking issues", "## Recommendation"]
        {
            assert!(report.contains(part), "{part}: {report}");
        }
    }
    blocks(&sandbox.session("phase-status.log"));
}

/// Every block has every key of the format.
fn blocks(log: &str) {
    for block in log.split("---PRP_PHASE_STATUS---\n").skip(1) {
        let (body, rest) = block.split_once("---END_PRP_PHASE_STATUS---\n").expect("a closed block");
        assert_eq!(rest, "\n");
        let is_review = body.contains("PHASE: QA\n");
        let own: &[&str] = if is_review {
            &["QA_METRICS:", "  CHECKS_TOTAL: ", "  BLOCKING_ISSUES: ", "VERDICT: ", "ATTEMPT: "]
        } else {
            &["TESTS:", "  TOTAL: ", "  PASSING: ", "  FAILING: ", "  SKIPPED: ", "FILES:", "  CREATED: "]
        };
        let all =
            ["TIMESTAMP: ", "PHASE: ", "STATUS: ", "ITERATION: ", "PROGRESS_PERCENT: ", "CIRCUIT_BREAKER:"];
        let more =
            ["  STATE: ", "  NO_PROGRESS_COUNT: ", "DUAL_GATE:", "  GATE_1: ", "  GATE_2: ", "  CAN_EXIT: "];
        let last =
            ["RATE_LIMIT:", "  HOURLY: ", "  5H_LIMIT: ", "BLOCKERS:", "EXIT_SIGNAL: ", "RECOMMENDATION: "];
        for key in all.iter().chain(own).chain(&more).chain(&last) {
            assert!(body.lines().any(|it| it.starts_with(key)), "{key} is missing: {body}");
        }
    }
}

#[test]
fn the_files_have_every_field_of_their_format_in_every_state() {
    let sandbox = Scripted::with_lines();
    let red = sandbox.text("steps/RED");
    sandbox.step("RED", "touch ../here; exec sleep 600\n");
    let mut child = sandbox.started_lines();
    let log = sandbox.path("user/.bp-sessions/project/phase-status.log");
    assert!(!log.exists() || sandbox.session("phase-status.log").is_empty());
    sandbox.file("user/.bp-sessions/project/phase-status.log", "");
    compare(&sandbox, "running", false, false);
    sandbox.run(&["stop", "--now"]).exits(0);
    child.wait().expect("ended");
    compare(&sandbox, "paused", false, false);

    sandbox.step("RED", &red);
    let green = sandbox.text("steps/GREEN");
    sandbox.step("GREEN", "printf 'ERROR: E0308: mismatched types\\n' | report false\n");
    sandbox.drive_lines(&[]).exits(4);
    compare(&sandbox, "halted", true, false);

    sandbox.run(&["answer", "reset"]).exits(0);
    sandbox.step("GREEN", &green);
    let approve = sandbox.text("steps/QA");
    sandbox.step(
        "QA",
        "report true <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 1\nVERDICT: REJECT\nMEMORY_CONTEXT:\n  \
        ADRS_FOUND: 2\nBLOCKERS:\n  - greets nobody\nE\n",
    );
    sandbox.drive_lines(&[]).exits(3);
    compare(&sandbox, "paused", true, true);
    let review = sandbox.session_json("qa-state.json");
    assert_eq!(review["memory_context"]["adrs_found"], 2);
    assert_eq!(review["report_path"], "qa-report-3.md");

    sandbox.step("QA", &approve);
    sandbox.run(&["answer", "skip"]).exits(0);
    sandbox.drive_lines(&[]).exits(0);
    compare(&sandbox, "completed", true, true);
    assert_eq!(sandbox.session_json("loop-state.json")["phases_skipped"], serde_json::json!(["QA"]));
}
