//! Caps of a run: before a call, while it works, and where nobody could keep them.

use super::{INIT, Till, message, result};
use loop_harness::within;
use serde_json::json;
use std::time::Duration;

#[test]
fn a_budget_that_nobody_could_keep_is_refused() {
    let till = Till::new("claude", "", "");
    let agent = till.sandbox.agent("echo hello");
    let run = |more: &[&str]| {
        let words = ["run", "a bridge", "--agent-cmd", &agent, "--unverified"];
        till.sandbox.run(&[&words[..], more].concat())
    };
    run(&["--budget", "1"]).exits(2).says("command does not report what a call costs").says("call_usd");
    run(&["--tokens", "1000"]).exits(2).says("does not report what it uses").says("--time");
    assert_eq!(till.sandbox.run(&["status", "--json"]).out.trim(), "{\"run\":null}", "nothing was begun");
}

#[test]
fn a_call_of_unknown_cost_counts_as_call_usd() {
    let till = Till::new("claude", "", "call_usd = 0.50");
    let agent = till.sandbox.agent("echo hello");
    let words = ["run", "a bridge", "--agent-cmd", &agent, "--unverified", "--budget", "1"];
    let done = till.sandbox.run(&words).exits(5);
    assert!(done.err.contains("2 calls of unknown cost, taken as $1.00"), "{}", done.err);
    assert!(done.err.contains("does not report what a call uses while it runs"), "{}", done.err);
    assert!(done.err.contains("next: loop run --budget 2.00"), "{}", done.err);
    assert_eq!(till.sandbox.status()["calls_total"], 2);
}

#[test]
fn tokens_are_counted_over_all_classes() {
    let till = Till::playing("codex", "last-message", "");
    till.run("codex", &["--tokens", "2500"])
        .exits(5)
        .says("the budget of 2500 tokens is used up (2580 spent)");
    assert_eq!(till.sandbox.status()["calls_total"], 2);
}

#[test]
fn a_phase_has_a_budget_of_its_own() {
    let till = Till::new("claude", &result("\"total_cost_usd\":0.5"), "phase_usd = 0.75");
    let done =
        till.run("claude", &[]).exits(5).says("the budget of $0.75 for BUILD is used up ($1.00 spent)");
    assert!(done.err.contains("next: loop run --reload"), "{}", done.err);
}

/// The call goes on for ever; it is asked to end when the requests it tells of have cost the budget, and
/// what it says then counts, however late.
#[test]
fn g30_a_budget_is_kept_during_a_call() {
    let late = result("\"total_cost_usd\":0.031");
    let script = format!(
        "{INIT}trap '{}exit 0' INT\nn=0\nwhile :; do n=$((n+1)); {}sleep 0.05; done\n",
        late.replace('\'', "'\\''"),
        message("$n", 1000)
    );
    let till = Till::new("claude", &script, "");
    till.run("claude", &["--budget", "0.03"]).exits(5).says("the budget of $0.03 is used up ($0.03 spent)");
    let budget = till.budget();
    assert_eq!(budget["usd"], json!({ "amount": 0.031, "source": "reported" }));
    assert_eq!(till.sandbox.status()["calls_total"], 1);
    till.sandbox.run(&["log"]).exits(0).says("is used up by this call");
    let argv = till.sandbox.notes("argv").join(" ");
    assert!(argv.contains("--max-budget-usd 0.0300"), "{argv}");
    till.sandbox.assert_nothing_runs();
}

/// Codex prints nothing about usage until its end; the record of its session has it.
#[test]
fn g30_codex_is_held_by_its_record() {
    let script = "d=\"$CODEX_HOME/sessions/2026/11/17\"; mkdir -p \"$d\"\n\
         printf '%s\\n' '{\"type\":\"thread.started\",\"thread_id\":\"t1\"}'\n\
         n=0; while :; do n=$((n+1000))\n\
         printf '%s\\n' \"{\\\"type\\\":\\\"event_msg\\\",\\\"payload\\\":{\\\"type\\\":\\\"token_count\\\",\\\"info\\\":\
         {\\\"total_token_usage\\\":{\\\"input_tokens\\\":$n,\\\"cached_input_tokens\\\":0,\\\"output_tokens\\\":0}}}}\" >> \"$d/rollout-x-t1.jsonl\"\n\
         sleep 0.05; done\n";
    let till = Till::new("codex", script, "");
    till.run("codex", &["--tokens", "5000"]).exits(5).says("the budget of 5000 tokens is used up");
    let used = till.budget()["tokens"]["input"].as_u64().expect("a count");
    assert!(5000 <= used, "{used}");
    assert_eq!(till.sandbox.status()["calls_total"], 1);
}

#[test]
fn turns_and_time_bound_a_call() {
    let endless = format!("{INIT}n=0\nwhile :; do n=$((n+1)); {}sleep 0.05; done\n", message("$n", 1));
    let till = Till::new("claude", &endless, "call_turns = 3");
    till.run("claude", &["--max", "1"]).exits(6);
    till.sandbox.run(&["log"]).exits(0).says("it took more than 3 turns");
    assert!(till.sandbox.notes("argv").join(" ").contains("--max-turns 3"));

    let till = Till::new("claude", &endless, "");
    till.run("claude", &["--time", "1s"]).exits(5).says("the time limit of 1s is used up");
    assert_eq!(till.sandbox.status()["calls_total"], 1);
}

/// A hundred controllers are killed while the same call goes on: it is one call, it costs what it costs,
/// and it is counted once.
#[test]
fn g30_a_hundred_restarts_in_mid_call_count_one_call() {
    let till = Till::new("claude", "", "day_usd = 100\ncall_usd = 1");
    let gate = till.sandbox.fifo("gate");
    till.sandbox.program(
        "bin/claude",
        &format!(
            "#!/bin/sh\ncat > /dev/null\necho began >> '{}'\n{INIT}{}read -r _ < '{}'\n{}",
            till.sandbox.note("calls").display(),
            message("1", 1000),
            till.sandbox.note("gate").display(),
            result("\"total_cost_usd\":0.4")
        ),
    );
    let words = ["run", "a bridge", "--agent", "claude", "--unverified", "--max", "1"];
    let times = 100;
    for round in 1..=times {
        let controller = till.sandbox.spawn(&words);
        let owned = format!("select count(*) from event where kind = 'owned' and {round} <= epoch");
        let is_owned = within(Duration::from_secs(60), || {
            till.sandbox.home.join("loop.db").exists()
                && !till.sandbox.notes("calls").is_empty()
                && 1 <= till.count(&owned)
        });
        assert!(is_owned, "round {round}");
        controller.kill();
    }
    assert_eq!(till.sandbox.notes("calls").len(), 1, "the call was started once");
    assert_eq!(
        till.count("select count(*) from reservation where micro_usd = 1000000"),
        1,
        "it stays set aside"
    );
    let last = till.sandbox.spawn(&words);
    gate.say();
    last.wait().exits(6);
    assert_eq!(till.sandbox.notes("calls").len(), 1);
    assert_eq!(till.budget()["usd"], json!({ "amount": 0.4, "source": "reported" }));
    assert_eq!(till.count("select micro_usd from spend"), 400_000);
    assert_eq!(till.count("select calls from spend"), 1);
    assert_eq!(till.count("select count(*) from reservation"), 0, "settled with its end");
    till.sandbox.run(&["verify"]).exits(0);
}
