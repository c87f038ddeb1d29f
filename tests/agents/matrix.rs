//! Every agent with every kind of trouble. One agent stands for all of them in `./test agents`; the campaign
//! takes all seven.

use super::lab::{INPUT, Lab, honest};
use loop_harness::agent_programs::is_wanted;
use loop_harness::within;
use serde_json::{Value, json};
use std::time::Duration;

/// Some agents ask their provider again and again for as long as they may. Opencode needs most of a minute to start
/// on two busy processors.
fn times(cli: &str) -> String {
    let (whole, idle) = if cli == "opencode" { (180, 90) } else { (90, 60) };
    format!("first_timeout = \"{whole}s\"\nidle_timeout = \"{idle}s\"\ntimeout = \"{whole}s\"")
}

fn is_due(cli: &str, row: &str) -> bool {
    let is_whole = std::env::var_os("LOOP_TEST_MATRIX").is_some();
    (is_whole || cli == "codex") && is_wanted(cli, row)
}

fn lab(cli: &'static str, script: &Value, more: &str) -> Lab {
    let mut lab = Lab::new(cli, script);
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    lab.configure(&format!("{}\n{more}", times(cli)));
    lab
}

/// What the program says of itself: no row of the conformance set fails.
fn conforms(cli: &'static str) {
    if !is_due(cli, "the conformance set") {
        return;
    }
    let lab = Lab::new(cli, &honest());
    let output = lab.run(&["agents", "test", cli, "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    println!("{cli}: {told:#}");
    assert_eq!((output.status.code(), &told["ok"]), (Some(0), &json!(true)), "{told:#}");
    assert!(14 < told["rows"].as_array().expect("rows").len(), "{told:#}");
}

/// Nobody listens: the run waits, and no iteration is counted.
fn unreachable(cli: &'static str) {
    if !is_due(cli, "nobody listens") {
        return;
    }
    let lab = lab(cli, &honest(), "");
    lab.close();
    let log = lab.next();
    let status = lab.status();
    assert!(log.contains("was not served"), "{cli}: {log}");
    assert_eq!(status["iterations_total"], 0, "{cli}: {log}");
    assert!(status["limits"]["waiting_until"].is_string(), "{cli}: {log}");
    lab.assert_nothing_runs();
}

/// An overloaded provider that serves again: the run that waited goes on by itself.
fn overloaded_then_well(cli: &'static str) {
    if !is_due(cli, "overloaded, then well") {
        return;
    }
    let lab = lab(cli, &json!({"turns": [{"times": -1, "fails": "overloaded"}]}), "");
    let mut running = lab.spawn(&INPUT);
    let waits = within(Duration::from_secs(300), || lab.said().contains("was not served"));
    assert!(waits, "{cli}: {}", lab.said());
    lab.play(&honest());
    assert_eq!(running.wait().expect("a status").code(), Some(0), "{cli}: {}", lab.said());
    assert_eq!(lab.status()["iterations_total"], 1, "{cli}: {}", lab.said());
}

/// An answer without a word is no success.
fn empty(cli: &'static str) {
    if !is_due(cli, "an empty answer") {
        return;
    }
    let lab = lab(cli, &json!({"turns": [{"times": -1}]}), "");
    let log = lab.next();
    assert!(log.contains("returned nothing: no text and no tool calls"), "{cli}: {log}");
    assert_ne!(lab.status()["status"], "completed");
}

/// With "edit" files are changed and nothing is committed, with every agent.
fn only_edits(cli: &'static str) {
    if !is_due(cli, "permissions = \"edit\"") {
        return;
    }
    let lab = lab(cli, &honest(), "permissions = \"edit\"");
    let log = lab.next();
    assert!(lab.repo().join("made.txt").exists(), "{cli}: {log}");
    assert_eq!(lab.git(&["log", "-1", "--format=%s"]), "more", "{cli} committed: {log}");
    // A shell that is offered and refused is told of; the others do not offer one.
    if ["claude", "copilot", "codex"].contains(&cli) {
        let warnings = lab.status()["warnings"].to_string();
        assert!(warnings.contains("the agent was refused"), "{cli}: {warnings}");
    }
}

macro_rules! matrix {
    ($($row:ident: $($name:ident $cli:literal),*;)*) => {
        $($(#[test]
        fn $name() {
            $row($cli);
        })*)*
    };
}

matrix! {
    conforms: claude_conforms "claude", codex_conforms "codex", gemini_conforms "gemini",
        opencode_conforms "opencode", copilot_conforms "copilot", qwen_conforms "qwen", pi_conforms "pi";
    unreachable: claude_unreachable "claude", codex_unreachable "codex", gemini_unreachable "gemini",
        opencode_unreachable "opencode", copilot_unreachable "copilot", qwen_unreachable "qwen",
        pi_unreachable "pi";
    overloaded_then_well: claude_overloaded "claude", codex_overloaded "codex", gemini_overloaded "gemini",
        opencode_overloaded "opencode", copilot_overloaded "copilot", qwen_overloaded "qwen",
        pi_overloaded "pi";
    empty: claude_empty "claude", codex_empty "codex", gemini_empty "gemini", opencode_empty "opencode",
        copilot_empty "copilot", qwen_empty "qwen", pi_empty "pi";
    only_edits: claude_only_edits "claude", codex_only_edits "codex", gemini_only_edits "gemini",
        opencode_only_edits "opencode", copilot_only_edits "copilot", qwen_only_edits "qwen",
        pi_only_edits "pi";
}
