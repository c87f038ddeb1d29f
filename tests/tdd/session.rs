//! Sessions of other controllers and of other documents: taken over once, refused by name, or asked
//! about; and the places where the files may lie.

use loop_harness::{PRP, Scripted};
use serde_json::{Value, json};

const SESSION: &str = "3f0c2a4e-8d1b-4c6f-9a57-0b1c2d3e4f50";

/// A session of another controller: GREEN, five iterations done.
fn other(change: impl Fn(&mut Value)) -> String {
    let mut state = json!({
        "session_id": SESSION, "prp_file": "docs/PRPs/2026-01-13-greetings.md",
        "started_at": "2026-01-16T10:00:00-03:00", "current_phase": "GREEN", "current_iteration": 5,
        "last_activity": "2026-01-16T10:45:00-03:00", "status": "paused", "halt_reason": null,
        "pause_reason": "User interrupt", "phases_completed": ["RED"],
        "phase_history": {
            "RED": {
                "started_at": "2026-01-16T10:00:00-03:00", "completed_at": "2026-01-16T10:15:00-03:00",
                "iterations": 2, "exit_reason": "Dual-Gate satisfied",
            },
            "GREEN": { "started_at": "2026-01-16T10:15:00-03:00", "completed_at": null, "iterations": 5 },
        },
        "error_history": [{
            "timestamp": "2026-01-16T10:30:00-03:00", "phase": "GREEN", "iteration": 3,
            "error": "TypeError: x is undefined", "hash": "aa",
        }],
        "total_agent_calls": 12,
    });
    change(&mut state);
    state.to_string()
}

/// A project in which that session left its tests.
fn begun(change: impl Fn(&mut Value)) -> Scripted {
    let sandbox = Scripted::with_lines();
    sandbox.file("project/tests/cases.txt", "greets\nworld\n");
    sandbox.git(&["commit", "-qam", "red"]);
    sandbox.file("project/.prp-session/loop-state.json", other(change));
    sandbox
}

#[test]
fn bp07_a_session_of_another_controller_goes_on_where_it_was() {
    let sandbox = begun(|_| ());
    let log = "---PRP_PHASE_STATUS---\nPHASE: RED\n---END_PRP_PHASE_STATUS---\n\n";
    sandbox.file("project/.prp-session/phase-status.log", log);
    let before = sandbox.text("project/.prp-session/loop-state.json");
    sandbox.drive_lines(&[]).exits(0);
    assert_eq!(sandbox.phase_calls()[0], "GREEN 6 none");
    let state = sandbox.json("project/.prp-session/loop-state.json");
    let told = ["session_id", "status", "total_agent_calls", "started_at"].map(|it| state[it].clone());
    assert_eq!(told, [json!(SESSION), json!("completed"), json!(16), json!("2026-01-16T13:00:00Z")]);
    let red = &state["phase_history"]["RED"];
    assert_eq!(
        ["iterations", "completed_at"].map(|it| red[it].clone()),
        [json!(2), json!("2026-01-16T13:15:00Z")]
    );
    assert_eq!(state["phase_history"]["GREEN"]["iterations"], 6);
    assert_eq!(state["error_history"][0]["error"], "TypeError: x is undefined");
    let kept = sandbox.text(&format!("home/runs/{SESSION}/imported/loop-state.json"));
    assert_eq!(kept, before);
    let found = sandbox.text("project/.prp-session/phase-status.log");
    assert!(found.starts_with(log), "{found}");
    assert_eq!(found.matches("---PRP_PHASE_STATUS---").count(), 5);
    // The tests that failed when it was taken over had to be mended, and its files are none of git's.
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["log", "--format=%s", "-1", "--", "done.txt"]), "green");
}

#[test]
fn red_tests_of_a_session_that_was_taken_over_are_not_excused() {
    let sandbox = begun(|_| ());
    sandbox.step("GREEN", "report true </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    let gate = sandbox.json("project/.prp-session/dual-gate.json");
    assert_eq!(gate["gate_1"]["values"]["tests_failing"], 2);
}

#[test]
fn bp12_bp14_companions_may_be_missing_and_every_phase_resumes() {
    let sandbox = begun(|state| {
        state["current_phase"] = json!("QA");
        state["current_iteration"] = json!(0);
        state["phases_completed"] = json!(["RED", "GREEN", "REFACTOR", "DOCUMENT"]);
        state["status"] = json!("suspended");
    });
    sandbox.file("project/tests/cases.txt", "greets\nworld\n");
    sandbox.file("project/done.txt", "greets\nworld\n");
    sandbox.git(&["add", "tests/cases.txt", "done.txt"]);
    sandbox.git(&["commit", "-qm", "green"]);
    let agent = sandbox.path("agent");
    let check = sandbox.path("check");
    sandbox.file(
        "project/.loop/workflow.toml",
        format!(
            "extends = \"tdd\"\n[agent]\ncli = \"command\"\nargs = [\"{}\"]\n[checks.tests]\nrun = \"{}\"\n",
            agent.display(),
            check.display()
        ),
    );
    sandbox.run(&["resume"]).exits(0);
    assert_eq!(sandbox.phase_calls().len(), 1);
    assert!(sandbox.phase_calls()[0].starts_with("QA 1 "), "{:?}", sandbox.phase_calls());
    let breaker = sandbox.json("project/.prp-session/circuit-breaker.json");
    assert_eq!(breaker["state"], "CLOSED");
}

#[test]
fn bp10_bp11_breakers_are_taken_over() {
    let halted = begun(|state| {
        state["status"] = json!("halted");
        state["halt_reason"] = json!("No progress for 2 iterations");
    });
    let refused = halted.drive_lines(&[]).exits(4);
    assert!(refused.err.contains("No progress for 2 iterations"), "{}", refused.err);
    assert_eq!(halted.phase_calls(), Vec::<String>::new());
    halted.run(&["resume", "--reset"]).exits(0);
    assert_eq!(halted.phase_calls()[0], "GREEN 1 none");

    let half = begun(|state| {
        state["current_phase"] = json!("RED");
        state["phases_completed"] = json!([]);
    });
    let breaker = json!({ "state": "HALF_OPEN", "no_progress_count": 2, "same_error_count": 0, "last_progress_metric": { "tests_generated": 2 } });
    half.file("project/.prp-session/circuit-breaker.json", breaker.to_string());
    half.step("RED", "report false </dev/null\n");
    half.drive_lines(&[]).exits(4);
    assert_eq!(half.phase_calls(), ["RED 6 none"]);
    let breaker = half.json("project/.prp-session/circuit-breaker.json");
    assert_eq!(["state", "no_progress_count"].map(|it| breaker[it].clone()), [json!("OPEN"), json!(3)]);
}

#[test]
fn bp82_an_impossible_window_begins_again() {
    let sandbox = begun(|_| ());
    let rate = json!({ "hourly": {
        "calls_made": 100, "limit": 100, "window_start": "2199-01-01T00:00:00Z", "next_reset": "2199-01-01T01:00:00Z",
    }});
    sandbox.file("project/.prp-session/rate-limit.json", rate.to_string());
    sandbox.drive_lines(&[]).exits(0);
    assert_eq!(sandbox.json("project/.prp-session/rate-limit.json")["hourly"]["calls_made"], 4);
}

#[test]
fn bp15_a_field_that_is_wrong_is_named_and_nothing_changes() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 9] = [
        (|it| drop(it.as_object_mut().expect("an object").remove("status")), "status is missing"),
        (|it| it["status"] = json!("sleeping"), "status is not one of"),
        (|it| it["session_id"] = json!("7"), "session_id is not a UUID"),
        (|it| it["current_phase"] = json!("BLUE"), "current_phase is not one of RED, GREEN"),
        (|it| it["current_iteration"] = json!(101), "current_iteration is not a whole number from 0 to 100"),
        (|it| it["started_at"] = json!("2026-01-16T10:00:00"), "started_at is not a time with a zone"),
        (|it| it["last_activity"] = json!("2199-01-16T10:00:00Z"), "last_activity is in the future"),
        (|it| it["phases_completed"] = json!([]), "phases_completed lacks RED"),
        (|it| it["error_history"] = json!([{ "phase": "RED" }]), "error_history[0].error is missing"),
    ];
    for (change, words) in cases {
        let sandbox = begun(change);
        let before = sandbox.text("project/.prp-session/loop-state.json");
        let refused = sandbox.drive_lines(&[]).exits(8);
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
        assert_eq!(sandbox.text("project/.prp-session/loop-state.json"), before);
        assert_eq!(sandbox.phase_calls(), Vec::<String>::new());
        assert!(sandbox.run(&["runs"]).exits(0).out.lines().all(|it| !it.contains("tdd")));
    }
    let sandbox = begun(|_| ());
    sandbox.file("project/.prp-session/loop-state.json", "{\"session_id\": ");
    assert!(sandbox.drive_lines(&[]).exits(8).err.contains("loop-state.json: the file is not JSON"));
    sandbox.file("project/.prp-session/loop-state.json", other(|_| ()));
    sandbox.file("project/.prp-session/circuit-breaker.json", "{\"state\": \"AJAR\"}");
    assert!(sandbox.drive_lines(&[]).exits(8).err.contains("circuit-breaker.json: state is not one of"));
    sandbox.drive_lines(&["--fresh"]).exits(4);
    assert_eq!(sandbox.phase_calls()[0], "RED 1 none");
}

#[test]
fn an_unfinished_run_of_another_document_is_a_question() {
    let sandbox = begun(|it| it["prp_file"] = json!("docs/PRPs/other.md"));
    let asked = sandbox.drive_lines(&[]).exits(3);
    assert!(asked.err.contains("other-input") && asked.err.contains("docs/PRPs/other.md"), "{}", asked.err);
    sandbox.drive_lines(&["--fresh"]).exits(4);
    let kept: Vec<_> = std::fs::read_dir(sandbox.path("home/runs")).expect("runs").flatten().collect();
    assert_eq!(kept.len(), 1);
    let before = std::fs::read_to_string(kept[0].path().join("before/loop-state.json")).expect("kept");
    assert!(before.contains("docs/PRPs/other.md"));

    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    sandbox.file("project/docs/PRPs/second.md", PRP);
    let agent = sandbox.path("agent").display().to_string();
    let check = format!("tests={}", sandbox.path("check").display());
    let second = ["run", "docs/PRPs/second.md", "--preset", "tdd", "--agent-cmd", &agent, "--check", &check];
    let asked = sandbox.run(&second).exits(3);
    let first = sandbox.status()["run"].as_str().expect("an id")[..8].to_owned();
    assert!(asked.err.contains(&format!("\n  or: loop run --run {first}\n")), "{}", asked.err);
    sandbox.run(&["run", "--run", &first]).exits(4).says("halted: GREEN");
    let elsewhere = [&second[..], &["--mirror", "state"]].concat();
    sandbox.run(&elsewhere).exits(4);
    assert_eq!(sandbox.json("project/state/loop-state.json")["prp_file"], "docs/PRPs/second.md");
    assert!(!sandbox.git(&["status", "--porcelain"]).contains("state/"));
}

#[test]
fn bp16_the_environment_names_the_place() {
    let sandbox = Scripted::with_lines();
    let mut command = sandbox.driving_lines(&[]);
    let output = command.env("PRP_SESSION_DIR", sandbox.path("x")).output().expect("started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut names: Vec<String> = std::fs::read_dir(sandbox.path("x"))
        .expect("a folder")
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "circuit-breaker.json",
        "dual-gate.json",
        "loop-state.json",
        "metrics.json",
        "phase-status.log",
        "qa-report-1.md",
        "qa-state.json",
        "rate-limit.json",
    ];
    assert_eq!(names, expected);
    assert!(!sandbox.path("user/.bp-sessions").exists());
}

#[test]
fn g26_an_edit_decides_nothing_and_is_undone() {
    let sandbox = Scripted::with_lines();
    let forge = "for it in loop-state.json phase-status.log; do\n\
        printf '{\"status\": \"completed\", \"current_phase\": \"QA\"}' > \"$HOME/.bp-sessions/project/$it\"; done\n";
    sandbox.step(
        "GREEN",
        &format!("HOME='{}'\n{forge}report false </dev/null\n", sandbox.path("user").display()),
    );
    sandbox.drive_lines(&[]).exits(4);
    let state = sandbox.session_json("loop-state.json");
    assert_eq!(["status", "current_phase"].map(|it| state[it].clone()), [json!("halted"), json!("GREEN")]);
    let log = sandbox.session("phase-status.log");
    assert!(log.starts_with("---PRP_PHASE_STATUS---\nTIMESTAMP: "), "{log}");
    assert_eq!(log.matches("---PRP_PHASE_STATUS---").count(), 4);
}

/// What an agent did to the files is undone, and the journal and the status say so.
#[test]
fn g26_an_edit_by_an_agent_is_told_of() {
    let sandbox = Scripted::with_lines();
    let folder = sandbox.path("user/.bp-sessions/project").display().to_string();
    let green = sandbox.text("steps/GREEN");
    let forge = format!(
        "echo '{{\"status\": \"completed\"}}' > {folder}/loop-state.json; rm {folder}/rate-limit.json; \
         sed -i s/RED/BLUE/ {folder}/phase-status.log\n{green}"
    );
    sandbox.step("GREEN", &forge);
    sandbox.drive_lines(&[]).exits(0);
    let log = sandbox.run(&["log"]).exits(0).out;
    let status: Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON");
    for words in [
        "loop-state.json was changed by",
        "rate-limit.json was removed by",
        "phase-status.log was changed by",
    ] {
        assert_eq!(log.matches(words).count(), 1, "{words}: {log}");
        assert!(status["warnings"].to_string().contains(words), "{words}: {status:#}");
    }
    assert!(!log.contains("metrics.json was"), "{log}");
    assert!(!sandbox.session("phase-status.log").contains("BLUE"));
    assert_eq!(sandbox.phase_calls().len(), 5);
    assert_eq!(status["verified"], true);
}

#[test]
fn init_takes_a_session_over_and_it_is_unverified_until_it_is_measured() {
    let sandbox = begun(|_| ());
    let agent = sandbox.path("agent").display().to_string();
    let check = format!("tests={}", sandbox.path("check").display());
    let document = "docs/PRPs/2026-01-13-greetings.md";
    let words = ["init", document, "--preset", "tdd", "--agent-cmd", &agent, "--check", &check];
    let done = sandbox.run(&words).exits(0);
    assert!(
        done.out.contains("was imported") && done.out.contains("paused in GREEN, 5 iterations"),
        "{}",
        done.out
    );
    assert_eq!(sandbox.phase_calls(), Vec::<String>::new());
    let status = || -> Value { serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON") };
    let found = status();
    assert_eq!([&found["run"], &found["verified"]], [&json!(SESSION), &json!(false)]);
    assert_eq!(sandbox.json("project/.prp-session/loop-state.json")["verified"], false);
    let shown = sandbox.run(&["status"]).out;
    assert!(shown.contains("paused, unverified"), "{shown}");
    assert!(sandbox.path(&format!("home/runs/{SESSION}/imported/loop-state.json")).is_file());
    // A second time it is a run like any other.
    sandbox.run(&words).exits(7);
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.run(&["next"]);
    assert_eq!(sandbox.phase_calls(), ["GREEN 6 none"]);
    let measured = status();
    assert_eq!([&measured["verified"], &measured["iteration"]], [&json!(false), &json!(6)]);
    assert!(measured["warnings"].to_string().contains("were not measured here"), "{measured:#}");

    // What was completed elsewhere was never measured here.
    let sandbox = begun(|state| {
        state["status"] = json!("completed");
        state["current_phase"] = json!("QA");
        state["phases_completed"] = json!(["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"]);
    });
    let done = sandbox.drive_lines(&[]).exits(0);
    assert!(done.out.contains("completed by another controller"), "{}", done.out);
    let state: Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!([&state["status"], &state["verified"]], [&json!("completed"), &json!(false)]);
}

#[test]
fn a_companion_that_is_damaged_is_named_and_the_count_of_reviews_is_found() {
    for (name, text, words) in [
        ("rate-limit.json", "{\"hourly\": 7}", "rate-limit.json: hourly is not an object"),
        ("rate-limit.json", "{\"hourly\": {\"calls_made\": -1}}", "hourly.calls_made is not a whole number"),
        ("metrics.json", "[]", "metrics.json: the file is not a JSON object"),
        ("qa-state.json", "{\"attempt\": 9}", "qa-state.json: attempt is not a whole number from 0 to 3"),
    ] {
        let sandbox = begun(|_| ());
        sandbox.file(&format!("project/.prp-session/{name}"), text);
        let refused = sandbox.drive_lines(&[]).exits(8);
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
        assert_eq!(sandbox.text(&format!("project/.prp-session/{name}")), text);
        assert_eq!(sandbox.phase_calls(), Vec::<String>::new());
    }
    let sandbox = begun(|state| {
        state["current_iteration"] = json!(0);
        state["phases_completed"] = json!(["RED", "REFACTOR", "DOCUMENT"]);
    });
    sandbox.file("project/.prp-session/qa-state.json", "{\"attempt\": 2, \"last_verdict\": \"REJECT\"}");
    sandbox.drive_lines(&[]).exits(0);
    assert_eq!(sandbox.phase_calls()[0], "GREEN 1 none");
    assert!(sandbox.phase_calls()[1].starts_with("QA 1 "), "{:?}", sandbox.phase_calls());
    let calls = sandbox.json("project/.prp-session/loop-state.json")["total_agent_calls"].clone();
    let prompt = sandbox.text(&format!("prompts/{calls}"));
    assert!(prompt.contains("This is attempt 3 of 3"), "{prompt}");
    let review = sandbox.json("project/.prp-session/qa-state.json");
    let told = ["attempt", "last_verdict", "report_path"].map(|it| review[it].clone());
    assert_eq!(told, [json!(3), json!("APPROVE"), json!("qa-report-3.md")]);
}

#[test]
fn bp01_bp02_bp03_a_session_is_there_while_its_first_call_runs() {
    let sandbox = Scripted::with_lines();
    sandbox.step("RED", "touch ../here; exec sleep 600\n");
    let mut child = sandbox.started_lines();
    let state = sandbox.session_json("loop-state.json");
    let told =
        ["prp_file", "current_phase", "current_iteration", "status", "phases_completed", "error_history"];
    assert_eq!(
        told.map(|it| state[it].clone()),
        [
            json!("docs/PRPs/2026-01-13-greetings.md"),
            json!("RED"),
            json!(0),
            json!("running"),
            json!([]),
            json!([])
        ]
    );
    assert_eq!(sandbox.session_json("circuit-breaker.json")["history"], json!([]));
    assert_eq!(sandbox.session_json("rate-limit.json")["hourly"]["limit"], 100);
    sandbox.run(&["stop", "--now"]).exits(0);
    assert_eq!(child.wait().expect("ended").code(), Some(5));
}

#[test]
fn bp08_a_new_run_begins_at_the_beginning() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "report false </dev/null\n");
    sandbox.drive_lines(&["--max", "2"]).exits(6);
    let first = sandbox.session_json("loop-state.json");
    sandbox.drive_lines(&["--fresh", "--max", "1"]).exits(6);
    let second = sandbox.session_json("loop-state.json");
    assert_ne!(first["session_id"], second["session_id"]);
    assert_eq!(sandbox.phase_calls()[2], "RED 1 none");
    assert_eq!(second["total_agent_calls"], 1);
}

#[test]
fn bp92_a_pause_from_outside_ends_the_call() {
    let sandbox = Scripted::with_lines();
    sandbox.step("GREEN", "touch ../here; exec sleep 600\n");
    let mut child = sandbox.started_lines();
    sandbox.run(&["pause"]).exits(0);
    assert_eq!(child.wait().expect("ended").code(), Some(5));
    let state = sandbox.session_json("loop-state.json");
    let told =
        ["status", "current_phase", "current_iteration", "total_agent_calls"].map(|it| state[it].clone());
    assert_eq!(told, [json!("paused"), json!("GREEN"), json!(0), json!(2)]);
    sandbox.step("GREEN", "printf 'greets\\nworld\\n' > done.txt; commit green; report true </dev/null\n");
    sandbox.drive_lines(&[]).exits(0);
    assert_ne!(sandbox.run(&["pause"]).code, 0, "there is nothing to pause");
}

#[test]
fn bp95_a_document_without_criteria_is_refused() {
    let sandbox = Scripted::with_lines();
    sandbox.file("project/docs/PRPs/2026-01-13-greetings.md", "# Nothing\n\n## Success Criteria\n\nnone\n");
    let refused = sandbox.drive_lines(&[]).exits(2);
    assert!(
        refused.err.contains("lists no success criteria") && refused.err.contains("--criteria N"),
        "{}",
        refused.err
    );
    assert_eq!(sandbox.phase_calls(), Vec::<String>::new());
    sandbox.drive_lines(&["--criteria", "3"]).exits(4);
    let gate = sandbox.session_json("dual-gate.json");
    assert_eq!(
        ["criteria_count", "tests_generated"].map(|it| gate["gate_1"]["values"][it].clone()),
        [json!(3), json!(2)]
    );
}
