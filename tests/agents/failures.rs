//! What providers and networks do to an agent, with the real programs: each failure is told by its
//! class, waited for as long as that class deserves, never taken for success, and leaves nothing
//! running. Where it passes, the same run goes on and completes.

use super::lab::{INPUT, Lab, honest, now_s};
use loop_harness::agent_programs::is_wanted;
use loop_harness::within;
use serde_json::{Value, json};
use std::time::Duration;

/// How long a run waits after a failure.
enum Wait {
    /// Between so many seconds.
    Seconds(std::ops::Range<i64>),
    /// A person has to do something first.
    Person,
}

struct Case {
    cli: &'static str,
    name: &'static str,
    turn: Value,
    says: &'static str,
    wait: Wait,
}

fn fails(case: Case) {
    let Case { cli, name, turn, says, wait } = case;
    if !is_wanted(cli, name) {
        return;
    }
    let mut lab = Lab::new(cli, &json!({"turns": [turn]}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    let began = now_s();
    let log = lab.next();
    let status = lab.status();
    assert!(log.contains(says), "{cli} {name}: no {says:?} in {log}");
    assert_ne!(status["status"], "completed", "{cli} {name}");
    let until =
        status["limits"]["waiting_until"].as_str().map(|it| it.parse::<jiff::Timestamp>().expect("a moment"));
    let iterations = status["iterations_total"].as_u64().expect("a number");
    match wait {
        Wait::Seconds(range) => {
            let until = until.unwrap_or_else(|| panic!("{cli} {name} waits for nothing: {log}")).as_second();
            assert!(
                range.start <= until - began && until - now_s() <= range.end,
                "{cli} {name}: {until} after {began}"
            );
            assert_eq!(iterations, 0, "{cli} {name}: a refused call is no iteration");
            assert_eq!(status["breaker"]["same_error"], 0, "{cli} {name}");
        }
        Wait::Person => {
            assert_eq!((until, iterations), (None, 0), "{cli} {name}: {status}");
            assert_eq!(status["question"]["kind"], "agent", "{cli} {name}: {status}");
        }
    }
    assert_eq!(status["calls_total"], 1, "{cli} {name}");
    lab.assert_nothing_runs();
}

fn error(status: u16, kind: &str, message: &str) -> Value {
    json!({"times": -1, "error": {"status": status, "type": kind, "code": kind, "message": message}})
}

#[test]
fn claude_429_is_a_short_wait() {
    let turn = error(429, "rate_limit_error", "Number of requests has exceeded your per-minute rate limit");
    let says = "the provider allows no more calls at the moment";
    fails(Case { cli: "claude", name: "429", turn, says, wait: Wait::Seconds(55..65) });
}

#[test]
fn codex_429_is_a_short_wait() {
    let turn = error(429, "rate_limit_exceeded", "Rate limit reached for requests");
    let says = "the provider allows no more calls at the moment";
    fails(Case { cli: "codex", name: "429", turn, says, wait: Wait::Seconds(55..65) });
}

#[test]
fn claude_529_takes_the_ladder() {
    let says = "the provider cannot serve calls at the moment";
    let turn = error(529, "overloaded_error", "Overloaded");
    fails(Case { cli: "claude", name: "529", turn, says, wait: Wait::Seconds(4..6) });
}

#[test]
fn codex_503_takes_the_ladder() {
    let says = "the provider cannot serve calls at the moment";
    let turn = error(503, "server_error", "The server is overloaded");
    fails(Case { cli: "codex", name: "503", turn, says, wait: Wait::Seconds(4..6) });
}

#[test]
fn claude_without_credit_asks_a_person() {
    let turn =
        error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.");
    fails(Case { cli: "claude", name: "credit", turn, says: "no credit left", wait: Wait::Person });
}

#[test]
fn codex_without_credit_asks_a_person() {
    let turn = error(
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    );
    fails(Case { cli: "codex", name: "credit", turn, says: "no credit left", wait: Wait::Person });
}

#[test]
fn claude_with_too_long_a_prompt_asks_a_person() {
    let turn = error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum");
    let says = "the prompt is too long for the model";
    fails(Case { cli: "claude", name: "context", turn, says, wait: Wait::Person });
}

#[test]
fn codex_with_too_long_a_prompt_asks_a_person() {
    let turn = json!({"times": -1, "error": {"status": 400, "type": "invalid_request_error", "code": "context_length_exceeded",
        "in_stream": true, "message": "Your input exceeds the context window of this model."}});
    let says = "the prompt is too long for the model";
    fails(Case { cli: "codex", name: "context", turn, says, wait: Wait::Person });
}

#[test]
fn claude_with_an_unknown_model_asks_a_person() {
    let turn = error(404, "not_found_error", "model: no-such-model");
    fails(Case {
        cli: "claude",
        name: "model",
        turn,
        says: "claude cannot use this model",
        wait: Wait::Person,
    });
}

#[test]
fn codex_with_an_unknown_model_asks_a_person() {
    let turn = error(404, "model_not_found", "The model `no-such-model` does not exist");
    fails(Case {
        cli: "codex",
        name: "model",
        turn,
        says: "codex cannot use this model",
        wait: Wait::Person,
    });
}

/// The connection breaks in the middle of an answer, again and again; then it holds, and the run that
/// waited goes on by itself.
fn cut_streams_pass(cli: &'static str) {
    if !is_wanted(cli, "cut streams") {
        return;
    }
    let mut lab = Lab::new(cli, &json!({"turns": [{"text": "half of", "drop": "within", "times": -1}]}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    goes_on(&mut lab, "the provider could not be reached", |lab| lab.play(&honest()));
}

#[test]
fn claude_goes_on_after_cut_streams() {
    cut_streams_pass("claude");
}

#[test]
fn codex_goes_on_after_cut_streams() {
    cut_streams_pass("codex");
}

/// Starts a run, waits until it waits, lets the cause pass, and expects the run to complete.
fn goes_on(lab: &mut Lab, says: &str, pass: impl FnOnce(&mut Lab)) {
    let mut running = lab.spawn(&INPUT);
    let waits = within(Duration::from_secs(120), || lab.said().contains(says));
    let early = running.try_wait().expect("a status");
    assert!(waits && early.is_none(), "{}: {}", lab.cli, lab.said());
    assert!(
        within(Duration::from_secs(10), || lab.status()["limits"]["waiting_until"].is_string()),
        "{}",
        lab.status()
    );
    pass(lab);
    let code = running.wait().expect("a status").code();
    assert_eq!(code, Some(0), "{}: {}", lab.cli, lab.said());
    let status = lab.status();
    assert_eq!(
        (&status["status"], &status["iterations_total"]),
        (&json!("completed"), &json!(1)),
        "{status}"
    );
    lab.assert_nothing_runs();
}

/// Nobody listens: pauses that grow, and nothing for the breaker.
fn refused_connections_wait(cli: &'static str) {
    if !is_wanted(cli, "a refused connection") {
        return;
    }
    let mut lab = Lab::new(cli, &honest());
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    // Codex waits for a network by itself, for as long as a call may last.
    lab.configure("timeout = \"20s\"");
    lab.close();
    let log = lab.next();
    let status = lab.status();
    assert!(log.contains("was not served"), "{cli}: {log}");
    let until = status["limits"]["waiting_until"]
        .as_str()
        .expect("a wait")
        .parse::<jiff::Timestamp>()
        .expect("a moment");
    assert!(until.as_second() - now_s() <= 5, "{until}");
    assert_eq!(
        (&status["iterations_total"], &status["breaker"]["no_progress"]),
        (&json!(0), &json!(0)),
        "{status}"
    );
    lab.assert_nothing_runs();
}

#[test]
fn claude_waits_for_a_network() {
    refused_connections_wait("claude");
}

#[test]
fn codex_waits_for_a_network() {
    refused_connections_wait("codex");
}

/// A model that accepts the request and says nothing is ended by the call's own limits.
fn hang_is_ended(cli: &'static str) {
    if !is_wanted(cli, "a hang") {
        return;
    }
    let mut lab = Lab::new(cli, &json!({"turns": [{"text": "never", "silent": "before", "times": -1}]}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    lab.configure("timeout = \"12s\"");
    let log = lab.next();
    assert!(log.contains("it took longer than 12s"), "{cli}: {log}");
    let status = lab.status();
    assert_eq!(
        (&status["calls_total"], &status["limits"]["waiting_until"]),
        (&json!(1), &Value::Null),
        "{status}"
    );
    lab.assert_nothing_runs();
}

#[test]
fn claude_that_hangs_is_ended() {
    hang_is_ended("claude");
}

#[test]
fn codex_that_hangs_is_ended() {
    hang_is_ended("codex");
}

/// An agent that may not use its tools ends well and has done nothing; that is no success.
fn denied_is_no_success(cli: &'static str, says: &str) {
    if !is_wanted(cli, "a refused tool") {
        return;
    }
    let mut lab = Lab::new(cli, &honest());
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    lab.configure("permissions = \"agent\"");
    lab.next();
    let why = String::from_utf8_lossy(&lab.run(&["why"]).stdout).into_owned();
    assert!(why.contains(says), "{cli}: {why}");
    assert_ne!(lab.status()["status"], "completed");
    assert!(!lab.repo().join("made.txt").exists());
    lab.assert_nothing_runs();
}

#[test]
fn claude_that_is_refused_its_tools_says_so() {
    denied_is_no_success("claude", "the agent was refused Write");
}

#[test]
fn codex_that_may_not_write_completes_nothing() {
    denied_is_no_success("codex", "the agent was refused run: apply_patch");
}

/// opencode says "Unexpected server error" about a model that it does not know, and the reason in its log only.
#[test]
fn opencode_says_that_it_does_not_know_the_model() {
    if !is_wanted("opencode", "a model of nobody") {
        return;
    }
    let lab = Lab::new("opencode", &honest());
    lab.configure("model = \"fake/nobody\"");
    let log = lab.next();
    assert!(log.contains("opencode cannot use this model: Model not found: fake/nobody"), "{log}");
    let status = lab.status();
    assert_eq!(status["question"]["kind"], "agent", "{log}");
    assert_eq!(status["limits"]["waiting_until"], Value::Null, "{log}");
    lab.assert_nothing_runs();
}
