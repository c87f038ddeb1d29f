//! Plans that are nearly used up are told of; the environment that reaches an agent is the one it is
//! meant to have.

use super::lab::{INPUT, Lab, honest, now_s};
use loop_harness::agent_programs::is_wanted;
use serde_json::{Value, json};

fn warns(cli: &'static str, headers: Value, env: &[(&'static str, &str)], says: &str) {
    if !is_wanted(cli, "a plan that is nearly used up") {
        return;
    }
    let mut script = honest();
    for turn in script["turns"].as_array_mut().expect("turns") {
        turn["headers"] = headers.clone();
    }
    let mut lab = Lab::new(cli, &script);
    lab.env.extend(env.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let output = lab.run(&INPUT);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(says), "{cli}: {said}");
    let limits = String::from_utf8_lossy(&lab.run(&["limits"]).stdout).into_owned();
    assert!(limits.contains(says), "{cli}: {limits}");
    assert!(
        lab.status()["limits"]["warning"].as_str().is_some_and(|it| it.contains(says)),
        "{}",
        lab.status()
    );
}

#[test]
fn claude_warns_of_its_plan() {
    let reset = (now_s() + 9000).to_string();
    let headers = json!({
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-reset": reset,
        "anthropic-ratelimit-unified-5h-utilization": "0.93",
        "anthropic-ratelimit-unified-5h-reset": reset,
        "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
    });
    warns(
        "claude",
        headers,
        &[("CLAUDE_CODE_OAUTH_TOKEN", "anything-goes-here")],
        "93 % of the 5-hour limit is used",
    );
}

#[test]
fn codex_warns_of_its_plan() {
    let headers = json!({
        "x-codex-primary-used-percent": "88",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": (now_s() + 9000).to_string(),
        "x-codex-primary-reset-after-seconds": "9000",
    });
    warns("codex", headers, &[], "88 % of the 5-hour limit is used");
}

/// The agent's tools see its own keys and none of anybody else's.
fn sees_its_own_keys_only(cli: &'static str) {
    if !is_wanted(cli, "its environment") {
        return;
    }
    let mut script = honest();
    script["turns"][1]["tools"][0]["sh"] = json!("env > ../seen; git add -A && git commit -qm made");
    let mut lab = Lab::new(cli, &script);
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    lab.env.push(("GITHUB_TOKEN", "ghs-not-for-agents".to_owned()));
    lab.env.push(("AWS_SECRET_ACCESS_KEY", "aws-not-for-agents".to_owned()));
    lab.env.push(("DATABASE_URL", "postgres://u:not-for-agents@h/d".to_owned()));
    assert_eq!(lab.run(&INPUT).status.code(), Some(0));
    let seen = std::fs::read_to_string(lab.repo().join("../seen")).expect("an environment");
    assert!(seen.contains("LOOP_CALL=1") && seen.contains("PATH="), "{seen}");
    assert!(!seen.contains("not-for-agents"), "{seen}");
    let other = if cli == "claude" { "OPENAI_API_KEY=" } else { "ANTHROPIC_API_KEY=" };
    assert!(!seen.contains(other), "{seen}");
}

#[test]
fn claude_sees_its_own_keys_only() {
    sees_its_own_keys_only("claude");
}

#[test]
fn codex_sees_its_own_keys_only() {
    sees_its_own_keys_only("codex");
}
