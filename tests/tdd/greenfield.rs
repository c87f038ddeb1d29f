//! From a document to a completed run through all five phases, in three languages with their own
//! test runners, and every mirror as its format says.

use loop_harness::{PRP, Scripted};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn rust_from_nothing_to_completed() {
    let sandbox = Scripted::new();
    sandbox.file(
        "project/Cargo.toml",
        "[package]\nname = \"greetings\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    sandbox.file("project/src/lib.rs", "");
    sandbox.file("project/.gitignore", "target\n");
    sandbox.file(
        "project/Cargo.lock",
        "version = 3\n\n[[package]]\nname = \"greetings\"\nversion = \"0.1.0\"\n",
    );
    sandbox.step(
        "RED",
        "cat > src/lib.rs <<E\npub fn greet(_name: Option<&str>) -> String {\n    unimplemented!()\n}\nE\n\
         mkdir -p tests; cat > tests/greetings.rs <<E\n#[test]\nfn a_name_is_greeted() {\n    \
         assert_eq!(greetings::greet(Some(\"Ann\")), \"hello Ann\");\n}\n#[test]\nfn no_name_greets_the_world() {\n    \
         assert_eq!(greetings::greet(None), \"hello world\");\n}\nE\ncommit red; report true </dev/null\n",
    );
    sandbox.step(
        "GREEN",
        "cat > src/lib.rs <<E\npub fn greet(name: Option<&str>) -> String {\n    \
         format!(\"hello {}\", name.unwrap_or(\"world\"))\n}\nE\ncommit green; report true </dev/null\n",
    );
    sandbox.begin();
    completes(&sandbox, &[]);
}

#[test]
fn python_from_nothing_to_completed() {
    let sandbox = Scripted::new();
    sandbox.file("project/.gitignore", "__pycache__\n");
    sandbox.file("project/tests/__init__.py", "");
    sandbox.step(
        "RED",
        "printf 'def greet(name=None):\\n    raise NotImplementedError\\n' > greetings.py\n\
         cat > tests/test_greetings.py <<E\nimport unittest\nfrom greetings import greet\n\n\n\
         class Greetings(unittest.TestCase):\n    def test_a_name_is_greeted(self):\n        \
         self.assertEqual(greet('Ann'), 'hello Ann')\n\n    def test_no_name_greets_the_world(self):\n        \
         self.assertEqual(greet(), 'hello world')\nE\ncommit red; report true </dev/null\n",
    );
    sandbox.step(
        "GREEN",
        "printf 'def greet(name=None):\\n    return \"hello \" + (name or \"world\")\\n' > greetings.py\n\
         commit green; report true </dev/null\n",
    );
    sandbox.begin();
    completes(&sandbox, &["--check", sandbox.python_tests()]);
}

#[test]
fn node_from_nothing_to_completed() {
    let sandbox = Scripted::new();
    sandbox.file("project/package.json", "{\"name\": \"greetings\", \"version\": \"0.1.0\"}\n");
    sandbox.step(
        "RED",
        "echo 'exports.greet = () => { throw new Error(\"not implemented\") }' > greetings.js\n\
         mkdir -p test; cat > test/greetings.test.js <<E\nconst test = require('node:test')\n\
         const assert = require('node:assert')\nconst { greet } = require('../greetings.js')\n\
         test('a name is greeted', () => assert.equal(greet('Ann'), 'hello Ann'))\n\
         test('no name greets the world', () => assert.equal(greet(), 'hello world'))\nE\n\
         commit red; report true </dev/null\n",
    );
    sandbox.step(
        "GREEN",
        "echo \"exports.greet = name => 'hello ' + (name || 'world')\" > greetings.js\n\
         commit green; report true </dev/null\n",
    );
    sandbox.begin();
    completes(&sandbox, &["--check", "tests=node --test"]);
}

/// Drives a run to its end while somebody reads the mirrors all the time, and compares what is left.
fn completes(sandbox: &Scripted, more: &[&str]) {
    let done = AtomicBool::new(false);
    let (ended, reads) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(sandbox, &done));
        let ended = sandbox.drive(more);
        done.store(true, Ordering::Relaxed);
        (ended, reader.join().expect("every read was whole"))
    });
    let ended = ended.exits(0);
    assert!(0 < reads, "nothing was there to read");
    assert_eq!(
        sandbox.phase_calls(),
        ["RED 1 none", "GREEN 1 none", "REFACTOR 1 none", "DOCUMENT 1 none", "QA 1 opus"],
        "{}",
        ended.err
    );
    let state = sandbox.session_json("loop-state.json");
    compare_state(sandbox, &state);
    compare_breaker(&sandbox.session_json("circuit-breaker.json"));
    compare_companions(sandbox, &state);
    compare_log(&sandbox.session("phase-status.log"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // What is deleted comes back as it was.
    let before: Vec<String> = FILES.iter().map(|it| sandbox.session(it)).collect();
    std::fs::remove_dir_all(sandbox.path("user/.bp-sessions")).expect("removed");
    let shown = sandbox.run(&["status"]).exits(0).out;
    for words in [
        "[QA] iteration 1 | 2/2 tests passing | status: completed",
        "RED       completed, 1 iteration, tests generated 2\n",
        "DOCUMENT  completed, 1 iteration, docs generated 4\n",
        "#################### 100 %",
        "5 iterations, 5 calls, breaker opened 0 times",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(FILES.map(|it| sandbox.session(it)).to_vec(), before);
    let report = sandbox.run(&["show"]).exits(0).out;
    assert_eq!(report.lines().next(), Some("# tdd: completed"));
    for words in [
        "- input: docs/PRPs/2026-01-13-greetings.md\n",
        "- iterations: 5, calls: 5\n- took: ",
        "- breaker: opened 0 times\n",
        "- RED: completed, 1 iteration, tests generated 2\n- GREEN: completed, 1 iteration, tests passing 2\n",
        "- docs/adr/0001-one-file.md\n",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
}

const FILES: [&str; 8] = [
    "loop-state.json",
    "circuit-breaker.json",
    "rate-limit.json",
    "metrics.json",
    "dual-gate.json",
    "qa-state.json",
    "phase-status.log",
    "qa-report-1.md",
];

/// Every version of a file that anybody sees is whole.
fn read_until(sandbox: &Scripted, done: &AtomicBool) -> u32 {
    let mut reads = 0;
    let mut seen = String::new();
    while !done.load(Ordering::Relaxed) {
        // The log only ever grows.
        let log = sandbox.path("user/.bp-sessions/project/phase-status.log");
        if let Ok(text) = std::fs::read_to_string(log) {
            assert!(text.starts_with(&seen), "{seen}\nbecame\n{text}");
            seen = text;
        }
        for name in FILES.iter().filter(|it| it.ends_with(".json")) {
            let path = sandbox.path(&format!("user/.bp-sessions/project/{name}"));
            if let Ok(text) = std::fs::read_to_string(path) {
                let object: Value =
                    serde_json::from_str(&text).unwrap_or_else(|it| panic!("{name}: {it}\n{text}"));
                assert!(object.is_object(), "{name}: {text}");
                reads += 1;
            }
        }
        std::thread::yield_now();
    }
    reads
}

fn compare_state(sandbox: &Scripted, state: &Value) {
    let run = sandbox.run(&["status", "--json"]).exits(0);
    let status: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((&status["status"], &status["verified"]), (&json!("completed"), &json!(true)));
    assert_eq!(status["progress_percent"], 100);
    let time = |name: &str| {
        let text = state[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {state:#}"));
        assert!(text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok(), "{name}: {text}");
        text.to_owned()
    };
    let mut phases = state["phase_history"].clone();
    for (_, phase) in phases.as_object_mut().expect("phases") {
        for name in ["started_at", "completed_at"] {
            let text = phase[name].as_str().expect("a time").to_owned();
            assert!(text.parse::<jiff::Timestamp>().is_ok(), "{text}");
            phase.as_object_mut().expect("a phase").remove(name);
        }
    }
    let phase = json!({ "iterations": 1, "visits": 1, "exit_reason": "Dual-Gate satisfied" });
    let names = ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"];
    let expected = json!({
        "session_id": status["run"], "prp_file": "docs/PRPs/2026-01-13-greetings.md",
        "started_at": time("started_at"), "current_phase": "QA", "current_iteration": 1,
        "last_activity": time("last_activity"), "status": "completed", "halt_reason": null,
        "completed_at": time("completed_at"), "phases_completed": names,
        "phase_history": state["phase_history"], "error_history": [], "total_agent_calls": 5, "qa_attempts": 0,
        "phases_skipped": [], "verified": true, "project": sandbox.path("project"),
    });
    assert_eq!(*state, expected);
    let histories: serde_json::Map<String, Value> =
        names.iter().map(|it| ((*it).to_owned(), phase.clone())).collect();
    assert_eq!(phases, Value::Object(histories));
    let id = state["session_id"].as_str().expect("an id");
    assert_eq!(uuid::Uuid::parse_str(id).expect("a UUID").get_version_num(), 4);
}

fn compare_breaker(breaker: &Value) {
    let mut breaker = breaker.clone();
    let object = breaker.as_object_mut().expect("an object");
    let metrics = object.remove("last_progress_metric").expect("metrics");
    assert_eq!(metrics["verdict"], "APPROVE", "{metrics:#}");
    let history = object.remove("history").expect("a history");
    let events: Vec<&str> =
        history.as_array().expect("a list").iter().filter_map(|it| it["event"].as_str()).collect();
    assert_eq!(events, ["progress"; 5]);
    let expected = json!({
        "state": "CLOSED", "no_progress_count": 0, "same_error_count": 0, "last_error_hash": null,
        "opened_at": null, "open_reason": null,
    });
    assert_eq!(breaker, expected);
}

fn compare_companions(sandbox: &Scripted, state: &Value) {
    let mut rate = sandbox.session_json("rate-limit.json");
    let hourly = rate["hourly"].as_object_mut().expect("an object");
    let moment = |it: &Value| it.as_str().expect("a time").parse::<jiff::Timestamp>().expect("a time");
    let (start, reset) =
        (hourly.remove("window_start").expect("a time"), hourly.remove("next_reset").expect("a time"));
    assert_eq!(moment(&reset).as_second() - moment(&start).as_second(), 3600);
    let expected = json!({
        "hourly": { "calls_made": 5, "limit": 100 },
        "anthropic_5h": { "detected": false, "detected_at": null, "resume_at": null, "waiting": false },
        "paused": false, "pause_reason": null, "paused_at": null,
    });
    assert_eq!(rate, expected);

    let metrics = sandbox.session_json("metrics.json");
    for name in ["session_id", "prp_file", "started_at", "current_phase"] {
        assert_eq!(metrics[name], state[name], "{name}");
    }
    let red = &metrics["phases"]["RED"];
    assert_eq!((&red["iterations"], red["history"].as_array().map(Vec::len)), (&json!(1), Some(1)));
    let counts =
        |it: &Value| ["tests_generated", "tests_failing", "tests_passing"].map(|name| it[name].clone());
    assert_eq!(counts(&red["final_metrics"]), [json!(2), json!(2), json!(0)]);
    assert_eq!(counts(&metrics["phases"]["GREEN"]["final_metrics"]), [json!(2), json!(0), json!(2)]);

    let mut gate = sandbox.session_json("dual-gate.json");
    let object = gate.as_object_mut().expect("an object");
    let (one, other) = (object.remove("timestamp"), object.remove("evaluated_at"));
    assert!(one.is_some() && one == other);
    let expected = json!({
        "phase": "QA", "iteration": 1,
        "gate_1": {
            "satisfied": true, "condition": "blocking_issues == 0 && verdict == \"APPROVE\"",
            "values": { "blocking_issues": 0, "verdict": "APPROVE" },
        },
        "gate_2": { "satisfied": true, "source": "explicit_signal" }, "can_exit": true,
    });
    assert_eq!(gate, expected);
    let report = sandbox.session("qa-report-1.md");
    assert!(report.contains("- attempt: 1 of 3\n") && report.contains("## Verdict\n\nAPPROVE\n"), "{report}");
}

fn compare_log(log: &str) {
    let blocks: Vec<&str> = log.split("---PRP_PHASE_STATUS---\n").skip(1).collect();
    let line = |block: &str, key: &str| {
        let found =
            block.lines().find_map(|it| it.trim().strip_prefix(&format!("{key}: ")).map(str::to_owned));
        found.unwrap_or_else(|| panic!("{key} is missing: {block}"))
    };
    let told: Vec<[String; 5]> = blocks
        .iter()
        .map(|it| ["PHASE", "STATUS", "PROGRESS_PERCENT", "EXIT_SIGNAL", "HOURLY"].map(|key| line(it, key)))
        .collect();
    let expected = [("RED", "10"), ("GREEN", "55"), ("REFACTOR", "70"), ("DOCUMENT", "85"), ("QA", "100")];
    for (index, (phase, percent)) in expected.iter().enumerate() {
        assert_eq!(
            told[index],
            [*phase, "COMPLETE", percent, "true", &format!("{}/100", index + 1)].map(str::to_owned)
        );
    }
    assert_eq!(blocks.len(), 5);
    assert_eq!(
        ["TOTAL", "PASSING", "FAILING", "SKIPPED"].map(|it| line(blocks[0], it)),
        ["2", "0", "2", "0"]
    );
    assert_eq!(["VERDICT", "ATTEMPT"].map(|it| line(blocks[4], it)), ["APPROVE", "1"]);
    assert!(log.ends_with("---END_PRP_PHASE_STATUS---\n\n"));
    assert!(PRP.contains("Success Criteria"));
}
