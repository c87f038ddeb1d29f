//! The real agent programs, driven by `loop` against a scripted model on the loopback interface: no
//! key, no model, no network but the npm registry.

mod engineering;
mod failures;
mod kills;
mod lab;
mod matrix;
mod planning;
mod plans;
mod restarts;

use lab::{INPUT, Lab, honest, now_s};
use loop_harness::agent_programs::is_wanted;
use serde_json::{Value, json};
use std::fs;

/// A whole run: the work is done and told, the tokens are counted, and the session can be opened again.
fn keeps_its_promise(cli: &'static str) {
    if !is_wanted(cli, "a whole run") {
        return;
    }
    let mut lab = Lab::new(cli, &honest());
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake".to_owned()));
    let output = lab.run(&[&INPUT[..], &["-v"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    let status = lab.status();
    assert_eq!((&status["status"], &status["calls_total"]), (&json!("completed"), &json!(1)), "{status}");
    // Copilot says nothing about tokens where it does not know the model.
    let tokens = if cli == "copilot" { 0 } else { 2620 };
    let classes = status["budget"]["tokens"].as_object().expect("four classes");
    assert_eq!(classes.values().filter_map(|it| it.as_u64()).sum::<u64>(), tokens, "{status}");
    assert_eq!(fs::read_to_string(lab.repo().join("made.txt")).expect("the work"), "made\n");
    assert_eq!(lab.git(&["log", "-1", "--format=%s"]), "made");
    let shown = String::from_utf8_lossy(&lab.run(&["show", "1"]).stdout).into_owned();
    for text in [&said.into_owned(), &shown] {
        assert!(text.contains("  I will write it.") && text.contains(" made.txt"), "{cli}: {text}");
        assert!(text.contains("git add -A && git commit -qm made"), "{cli}: {text}");
        assert!(text.contains("<promise>TASK_COMPLETE</promise>"), "{cli}: {text}");
        assert!(!text.contains(&format!("> write {}", lab.repo().display())), "{cli}: {text}");
    }
    assert!(status["models"]["WORK"].is_string(), "{cli} names its model: {status}");
    // pi keeps no session here.
    assert_eq!(shown.contains("open this session: cd "), cli != "pi", "{cli}: {shown}");
}

macro_rules! of_each {
    ($test:ident: $($name:ident $cli:literal),*) => {
        $(#[test]
        fn $name() {
            $test($cli);
        })*
    };
}

of_each! { keeps_its_promise:
claude_keeps_its_promise "claude", codex_keeps_its_promise "codex", gemini_keeps_its_promise "gemini",
opencode_keeps_its_promise "opencode", copilot_keeps_its_promise "copilot", qwen_keeps_its_promise "qwen",
pi_keeps_its_promise "pi" }

/// A used-up plan is waited for until the moment that the provider named, and is no iteration.
fn waits_for_its_plan(cli: &'static str, error: impl Fn(i64) -> Value, env: &[(&'static str, &str)]) {
    if !is_wanted(cli, "a used-up plan") {
        return;
    }
    let resets_at = now_s() + 9000;
    let mut lab = Lab::new(cli, &json!({"turns": [{"times": -1, "error": error(resets_at)}]}));
    lab.env.extend(env.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let output = lab.run(&[&["next"], &INPUT[1..]].concat());
    let status = lab.status();
    let until = status["limits"]["waiting_until"]
        .as_str()
        .unwrap_or_else(|| panic!("no wait in {status}\n{output:?}"));
    let until: jiff::Timestamp = until.parse().expect("a moment");
    assert!((until.as_second() - resets_at).abs() <= 60, "{until} is not {resets_at}");
    assert_eq!((&status["iterations_total"], &status["calls_total"]), (&json!(0), &json!(1)), "{status}");
}

#[test]
fn claude_waits_for_its_plan() {
    let error = |resets_at: i64| {
        json!({"status": 429, "message": "This request would exceed your account's rate limit.", "headers": {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-reset": resets_at.to_string(),
            "x-should-retry": "false",
        }})
    };
    waits_for_its_plan("claude", error, &[("CLAUDE_CODE_OAUTH_TOKEN", "anything")]);
}

#[test]
fn codex_waits_for_its_plan() {
    let error = |resets_at: i64| {
        json!({"status": 429, "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "extra": {"plan_type": "plus", "resets_at": resets_at, "resets_in_seconds": 9000}})
    };
    waits_for_its_plan("codex", error, &[]);
}

/// A key that is not accepted is said in one sentence, and nothing is waited for.
fn says_that_its_key_is_wrong(cli: &'static str) {
    if !is_wanted(cli, "a wrong key") {
        return;
    }
    let error = json!({"status": 401, "type": "authentication_error", "code": "invalid_api_key", "message": "Incorrect API key provided: sk-fake."});
    let mut lab = Lab::new(cli, &json!({"turns": [{"times": -1, "error": error}]}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-fake".to_owned()));
    lab.run(&[&["next"], &INPUT[1..]].concat());
    let log = String::from_utf8_lossy(&lab.run(&["log"]).stdout).into_owned();
    assert!(log.contains(&format!("{cli} is not logged in, or its key is not accepted")), "{log}");
    assert!(!log.contains("sk-fake"), "{log}");
    assert_eq!(lab.status()["limits"]["waiting_until"], Value::Null);
}

of_each! { says_that_its_key_is_wrong:
claude_says_that_its_key_is_wrong "claude", codex_says_that_its_key_is_wrong "codex",
gemini_says_that_its_key_is_wrong "gemini", opencode_says_that_its_key_is_wrong "opencode",
copilot_says_that_its_key_is_wrong "copilot", qwen_says_that_its_key_is_wrong "qwen",
pi_says_that_its_key_is_wrong "pi" }

/// Agents that do not name a moment, or wait without a word: the run waits, and nothing is an iteration.
fn waits_out_a_limit(cli: &'static str) {
    if !is_wanted(cli, "a limit") {
        return;
    }
    let headers = json!({"retry-after": "3600"});
    let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7200s"}]);
    let error = json!({"status": 429, "type": "rate_limit_error", "message": "Rate limit reached for requests",
        "headers": headers, "extra": {"details": details}});
    let lab = Lab::new(cli, &json!({"turns": [{"times": -1, "error": error}]}));
    // Some wait in silence for as long as they may.
    lab.configure("first_timeout = \"60s\"\nidle_timeout = \"30s\"\ntimeout = \"90s\"");
    lab.run(&[&["next"], &INPUT[1..]].concat());
    let status = lab.status();
    let log = String::from_utf8_lossy(&lab.run(&["log"]).stdout).into_owned();
    assert!(status["limits"]["waiting_until"].is_string(), "{cli} waits for nothing: {log}\n{status}");
    assert_eq!((&status["iterations_total"], &status["calls_total"]), (&json!(0), &json!(1)), "{cli}: {log}");
    if cli == "gemini" {
        let until: jiff::Timestamp =
            status["limits"]["waiting_until"].as_str().expect("a wait").parse().expect("a moment");
        assert!(7100 <= until.as_second() - now_s(), "as long as was asked for: {until}");
    }
    let limits = String::from_utf8_lossy(&lab.run(&["limits"]).stdout).into_owned();
    assert!(limits.contains("waiting until"), "{cli}: {limits}");
    lab.assert_nothing_runs();
}

of_each! { waits_out_a_limit:
gemini_waits_out_a_limit "gemini", opencode_waits_out_a_limit "opencode", copilot_waits_out_a_limit "copilot",
qwen_waits_out_a_limit "qwen", pi_waits_out_a_limit "pi" }
