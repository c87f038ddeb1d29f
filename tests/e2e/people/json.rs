//! What programs read: `status --json` and `run --json`.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};
use serde_json::Value;

/// Every field of the contract, with what it may be.
const FIELDS: &[(&str, &str)] = &[
    ("run", "text"),
    ("workflow", "text"),
    ("input", "text"),
    ("project", "text"),
    ("place", "text"),
    ("branch", "text?"),
    ("status", "text"),
    ("reason", "text"),
    ("next_step", "text"),
    ("phase", "text"),
    ("iteration", "number"),
    ("iterations_total", "number"),
    ("calls_total", "number"),
    ("item", "object?"),
    ("progress_percent", "number"),
    ("verified", "truth"),
    ("warnings", "list"),
    ("question", "object?"),
    ("breaker", "object"),
    ("breaker/state", "text"),
    ("breaker/no_progress", "number"),
    ("breaker/same_error", "number"),
    ("limits", "object"),
    ("limits/calls", "number"),
    ("limits/calls_limit", "number?"),
    ("limits/window_resets_at", "time?"),
    ("limits/waiting_until", "time?"),
    ("budget", "object"),
    ("budget/tokens", "object"),
    ("budget/tokens/input", "number"),
    ("budget/tokens/cache_write", "number"),
    ("budget/tokens/cache_read", "number"),
    ("budget/tokens/output", "number"),
    ("budget/usd", "object"),
    ("budget/usd/amount", "number?"),
    ("budget/usd/source", "text"),
    ("budget/limits", "object"),
    ("budget/seconds", "number"),
    ("metrics", "object"),
    ("phases", "list"),
    ("phases/0/name", "text"),
    ("phases/0/status", "text"),
    ("phases/0/iterations", "number"),
    ("phases/0/started_at", "time?"),
    ("phases/0/completed_at", "time?"),
    ("updated_at", "time"),
];

fn assert_complete(status: &Value, word: &str) {
    assert_eq!(status["status"], word, "{status}");
    for (field, kind) in FIELDS {
        let value =
            status.pointer(&format!("/{field}")).unwrap_or_else(|| panic!("{field} is missing at {word}"));
        let fits = match kind.trim_end_matches('?') {
            _ if value.is_null() => kind.ends_with('?'),
            "text" => value.as_str().is_some_and(|it| !it.is_empty()),
            "number" => value.is_number(),
            "truth" => value.is_boolean(),
            "list" => value.is_array(),
            "object" => value.is_object(),
            "time" => {
                value.as_str().is_some_and(|it| it.ends_with('Z') && it.parse::<jiff::Timestamp>().is_ok())
            }
            other => panic!("no kind is called {other}"),
        };
        assert!(fits, "{field} is {value} at {word}, which is no {kind}");
    }
    for (name, metric) in status["metrics"].as_object().expect("metrics") {
        assert!(!metric["value"].is_null() && metric["source"].is_string(), "{name}: {metric}");
    }
    let started = &status["phases"][0]["started_at"];
    assert!(started.is_string(), "a phase that is entered has a beginning");
    if !status["question"].is_null() {
        for field in ["id", "kind", "text", "choices"] {
            assert!(!status["question"][field].is_null(), "{field} of {}", status["question"]);
        }
    }
}

#[test]
fn en09_status_has_every_field_at_every_status() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.status(), serde_json::json!({ "run": null }));
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "[ \"$LOOP_CALL\" = 1 ] && {{ echo call > \"$OUT/at\"; read x < \"$OUT/go\"; }}; date +%N > work; [ ! -f \"$OUT/mended\" ] || touch mended; {COMMIT}; {PROMISE}"
    ));
    let check = "tests=[ -z \"$OUT\" ] || [ -f $OUT/based ] || { touch $OUT/based; echo check > $OUT/at; read x < $OUT/go; }; echo no; test -f mended";
    let command = ["run", "build it", "--agent-cmd", &agent, "--check", check];
    let running = sandbox.spawn(&command);
    assert_eq!(at.hear(), "check");
    assert_complete(&sandbox.status(), "ready");
    go.say();
    assert_eq!(at.hear(), "call");
    assert_complete(&sandbox.status(), "running");
    sandbox.run(&["pause"]).exits(0);
    running.wait().exits(5);
    assert_complete(&sandbox.status(), "paused");
    sandbox.run(&["run", "--max", "1"]).exits(6);
    let capped = sandbox.status();
    assert_complete(&capped, "capped");
    assert_eq!(capped["metrics"]["tests_ok"], serde_json::json!({ "value": false, "source": "measured" }));
    sandbox.run(&["run", "--max", "9"]).exits(4);
    assert_complete(&sandbox.status(), "halted");
    std::fs::write(sandbox.note("mended"), "").expect("a file");
    sandbox.run(&["answer", "reset"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    let completed = sandbox.status();
    assert_complete(&completed, "completed");
    assert_eq!(completed["progress_percent"], 100);
    assert_eq!(completed["project"], sandbox.project.to_str().expect("a plain path"));
}

#[test]
fn en09_run_json_is_json_to_its_last_line() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    let flags = ["--agent-cmd", &agent, "--json"];
    let last = |arguments: &[&str], code: i32| {
        let done = sandbox.run(&[arguments, &flags[..]].concat()).exits(code);
        let lines: Vec<Value> =
            done.out.lines().map(|it| serde_json::from_str(it).unwrap_or_else(|_| panic!("{it}"))).collect();
        let last = lines.last().expect("a last line").clone();
        assert_eq!(last["exit"], code, "{last}");
        last
    };
    let end = last(&["run", "it", "--check", CHECK], 0);
    let mut keys: Vec<&String> = end.as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["exit", "next_step", "reason", "status"]);
    assert_eq!(end["status"], "completed");
    assert_eq!(last(&["run", "it", "--check", CHECK], 0)["status"], "completed");
    assert_eq!(last(&["run", "that", "--check", "tests=false"], 4)["status"], "halted");
    assert_eq!(last(&["run", "that", "--check", "tests=false"], 4)["next_step"], "loop answer reset");
    last(&["run", "unchecked"], 2);
    sandbox.run(&["run", "--json", "--no-such-flag"]).exits(2);
}

#[test]
fn en09_data_goes_to_stdout_and_talk_to_stderr() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(done.out, "");
    let ends: Vec<&str> = done.err.lines().rev().take(6).collect();
    assert_eq!(ends[0], "next: loop show");
    assert_eq!(ends[5], "completed: it", "{}", done.err);
    sandbox.undo();
    let quiet = sandbox.run(&["run", "that", "-q", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(quiet.out, "");
    let show = sandbox.run(&["show"]).exits(0);
    assert_eq!(show.err, "");
    assert!(show.out.contains("that"), "{}", show.out);
}
