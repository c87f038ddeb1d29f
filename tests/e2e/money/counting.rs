//! Tokens by class and cost by source, for a call, a phase, a run, a project and a day.

use super::{Till, result};
use serde_json::{Value, json};

fn tokens(input: u64, cache_read: u64, output: u64) -> Value {
    json!({ "input": input, "cache_write": 0, "cache_read": cache_read, "output": output })
}

/// Whichever way an agent counts, a cached token is counted once. 0.00199 is 1134 tokens at $1.25, 100 at
/// $0.125 and 56 at $10 for a million.
#[test]
fn g30_every_agents_recording_is_counted_in_four_classes() {
    let cases = [
        ("claude", "append-system", &[][..], tokens(1234, 100, 56), json!(0.004572), "reported"),
        ("codex", "last-message", &["--model", "gpt-5"], tokens(1134, 100, 56), json!(0.00199), "computed"),
        ("codex", "last-message", &["--model", "none-such"], tokens(1134, 100, 56), Value::Null, "unknown"),
        ("gemini", "text", &[], tokens(1134, 100, 56), json!(0.00199), "computed"),
        ("opencode", "text", &[], tokens(1134, 100, 56), json!(0.004242), "reported"),
    ];
    for (agent, recording, more, tokens, amount, source) in cases {
        let till = Till::playing(agent, recording, "");
        till.run(agent, &[more, &["--max", "1"]].concat()).exits(6);
        let budget = till.budget();
        assert_eq!(budget["tokens"], tokens, "{agent}: {budget}");
        let (found, wanted) = (budget["usd"]["amount"].as_f64(), amount.as_f64());
        assert_eq!(
            found.map(|it| (it * 1e7).round()),
            wanted.map(|it| (it * 1e7).round()),
            "{agent}: {budget}"
        );
        assert_eq!(budget["usd"]["source"], source, "{agent}");
        let phase = &till.sandbox.status()["phases"][0];
        assert_eq!((&phase["tokens"], &phase["usd"]), (&tokens, &budget["usd"]), "{agent}");
        till.sandbox.run(&["verify"]).exits(0);
    }
}

#[test]
fn an_unknown_cost_is_never_zero_anywhere() {
    let till = Till::new("claude", "", "");
    let agent = till.sandbox.agent("echo hello");
    let words = ["run", "a bridge", "--agent-cmd", &agent, "--unverified", "--max", "2"];
    let done = till.sandbox.run(&words).exits(6);
    let mut shown = format!("{}{}", done.out, done.err);
    for words in [&["status"][..], &["show"], &["runs"], &["limits"]] {
        let done = till.sandbox.run(words).exits(0);
        assert!(done.out.contains("unknown"), "{words:?}: {}", done.out);
        shown.push_str(&done.out);
    }
    assert!(!shown.contains("$0"), "{shown}");
    let budget = till.budget();
    assert_eq!((&budget["usd"]["amount"], &budget["usd"]["source"]), (&Value::Null, &json!("unknown")));
    assert_eq!(budget["unknown_calls"], 2);
}

#[test]
fn the_users_prices_win_and_a_broken_file_is_named() {
    let till = Till::playing("codex", "last-message", "");
    till.configure("prices.toml", "[models]\n\"gpt-5\" = { input = 1000, cache_read = 0, output = 0 }\n");
    till.run("codex", &["--model", "gpt-5", "--max", "1"]).exits(6).says("$1.13 (computed)");
    till.sandbox.run(&["show"]).exits(0).says("$1.13 (computed)");
    till.sandbox.run(&["runs"]).exits(0).says("$1.13");
    till.sandbox.run(&["limits"]).exits(0).says("this project: 1 call, $1.13");
    till.configure("prices.toml", "[models]\n\"gpt-5\" = { inptu = 1 }\n");
    let done = till.run("codex", &["--model", "gpt-5", "--fresh"]).exits(2).says("prices.toml: line 2");
    assert!(done.err.contains("help: write it as"), "{}", done.err);
}

/// What an agent prints about its usage, and what becomes of it: dollars and calls of unknown cost. What is
/// no amount, or none at all, is unknown and counts as `call_usd`.
#[test]
fn g30_absurd_negative_missing_and_repeated_usage() {
    let twice = format!("{}{}", result("\"total_cost_usd\":0.5"), result("\"total_cost_usd\":0.5"));
    let less_at_last = format!("{}{}", result("\"total_cost_usd\":9"), result("\"total_cost_usd\":0.001"));
    let cases = [
        ("negative", result("\"total_cost_usd\":-5,\"usage\":{\"input_tokens\":-7}"), None, 1),
        ("a text", result("\"total_cost_usd\":\"much\",\"usage\":{\"input_tokens\":\"many\"}"), None, 1),
        ("missing", result("\"num_turns\":1"), None, 1),
        ("no number", result("\"total_cost_usd\":1e999"), None, 1),
        ("repeated", twice, Some(0.5), 0),
        ("absurd", result("\"total_cost_usd\":1e30,\"usage\":{\"input_tokens\":1e300}"), None, 1),
        ("nothing", result("\"total_cost_usd\":0"), None, 1),
        ("less at last", less_at_last, Some(9.0), 0),
    ];
    for (name, script, amount, unknown) in cases {
        let till = Till::new("claude", &script, "call_usd = 0.25");
        let done = till.run("claude", &["--max", "1", "--budget", "1"]);
        assert!(matches!(done.code, 5 | 6), "{name}: {}", done.err);
        let budget = till.budget();
        assert_eq!(
            (budget["usd"]["amount"].as_f64(), &budget["unknown_calls"]),
            (amount, &json!(unknown)),
            "{name}"
        );
        let assumed = till.count("select assumed_micro_usd from spend");
        assert_eq!(assumed, if unknown == 0 { 0 } else { 250_000 }, "{name}");
        till.sandbox.run(&["verify"]).exits(0);
        till.sandbox.run(&["status"]).exits(0);
    }
}

/// People think of their own days.
#[test]
fn a_day_is_a_local_day() {
    let till = Till::new("claude", &result("\"total_cost_usd\":0.5"), "");
    for (zone, hours) in [("UTC+12", -12_i64), ("UTC-14", 14)] {
        let day = || {
            let now = jiff::Timestamp::now()
                .to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::Offset::constant(hours as i8)));
            now.date().to_string()
        };
        let before = day();
        let words = ["run", zone, "--agent", "claude", "--unverified", "--max", "1"];
        let mut command = till.sandbox.command(&words);
        command.env("TZ", zone);
        till.sandbox.start(command).wait().exits(6);
        let question = format!("select count(*) from spend where day in ('{before}', '{}')", day());
        assert_eq!(till.count(&question), 1, "{zone}");
    }
}

#[test]
fn a_run_forecasts_its_cost_and_the_next_one_knows_it_before_its_first_call() {
    let till = Till::new("claude", &result("\"total_cost_usd\":0.5"), "");
    till.run("claude", &["--max", "2", "--budget", "5"]).exits(6);
    till.sandbox.run(&["status"]).exits(0).says("about $0.50 a call, 8 calls more within the budget");
    let forecast = &till.budget()["forecast"];
    assert_eq!((&forecast["call_usd"], &forecast["calls_left"]), (&json!(0.5), &json!(8)));
}

#[test]
fn what_earlier_runs_cost_is_said_before_the_first_call() {
    let script = "printf '%s\\n' '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\
         \"result\":\"```json\\n{\\\"status\\\":\\\"done\\\"}\\n```\",\"total_cost_usd\":0.5}'\n";
    let till = Till::new("claude", script, "");
    till.run("claude", &[]).exits(0);
    let words = ["run", "another bridge", "--agent", "claude", "--unverified"];
    till.sandbox.run(&words).exits(0).says("expected cost: about $0.50, by the last run of money here");
}
