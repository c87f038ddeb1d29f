//! One phase with each real agent program against a scripted model: the prompt of the preset goes out,
//! the status block comes back through the agent's own stream, and the checks decide. Only where
//! `LOOP_TEST_AGENTS` asks for it.

use loop_harness::agent_programs::{installed, is_wanted};
use loop_harness::{Done, Scripted};
use loop_model::{ModelServer, Options, Script};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model")
}

fn serve(sandbox: &Scripted, script: &Value) -> ModelServer {
    let script = Script::read(&script.to_string()).expect("a script");
    let cwd = Some(sandbox.path("project").to_string_lossy().into_owned());
    ModelServer::start(script, &Options { cwd, ..Options::default() }).expect("a server")
}

/// RED, once: two failing tests, reported as the preset's prompt asks for it.
fn red(cli: &str) {
    if !is_wanted(cli, "RED") {
        return;
    }
    let programs = installed(cli);
    let sandbox = Scripted::with_lines();
    let block = "---PRP_PHASE_STATUS---\nPHASE: RED\nSTATUS: COMPLETE\nITERATION: 1\nTESTS:\n  TOTAL: 2\n  PASSING: 0\n  \
        FAILING: 2\n  SKIPPED: 0\nBLOCKERS:\n  - none\nEXIT_SIGNAL: true\nRECOMMENDATION: continue\n---END_PRP_PHASE_STATUS---";
    let server = serve(
        &sandbox,
        &json!({"turns": [
            {"text": "I write the tests.", "tools": [{"write": {"path": "made.txt", "content": "made\n"}}]},
            {"tools": [{"sh": "printf 'greets\\nworld\\n' > tests/cases.txt && git add -A && git commit -qm red"}]},
            {"text": format!("Two tests fail.\n\n{block}")},
        ]}),
    );
    let url = server.url();
    let more = match cli {
        "codex" => format!(
            "args = [\"-c\", \"model_provider=fake\", \"-c\", \
             'model_providers.fake={{name=\"fake\",base_url=\"{url}/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}}']\n\
             model = \"gpt-5-codex\""
        ),
        "gemini" => "model = \"gemini-2.5-pro\"".to_owned(),
        "opencode" => format!("env = {{ FAKE_MODEL_URL = \"{url}\", FAKE_API_KEY = \"sk-fake\" }}"),
        _ => String::new(),
    };
    sandbox.file(
        "project/.loop/workflow.toml",
        format!("extends = \"tdd\"\n[agent]\ncli = \"{cli}\"\n{more}\n"),
    );
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "workflow"]);
    sandbox.file(
        "user/.gemini/settings.json",
        json!({"security": {"auth": {"selectedType": "gemini-api-key"}}}).to_string(),
    );
    std::fs::create_dir_all(sandbox.path("user/.codex")).expect("a folder");
    let check = format!("tests={}", sandbox.path("check").display());
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output = sandbox
        .command(&["next", "docs/PRPs/2026-01-13-greetings.md", "--check", &check])
        .env("PATH", path)
        .env("CODEX_HOME", sandbox.path("user/.codex"))
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "sk-ant-fake")
        .env("OPENAI_API_KEY", "sk-fake")
        .env("GOOGLE_GEMINI_BASE_URL", url)
        .env("GEMINI_API_KEY", "fake")
        .env("OPENCODE_CONFIG", model().join("opencode.json"))
        .output()
        .expect("started");
    let done = Done::of(output);
    let state = sandbox.session_json("loop-state.json");
    assert_eq!(
        [&state["current_phase"], &state["phases_completed"], &state["total_agent_calls"]],
        [&json!("GREEN"), &json!(["RED"]), &json!(1)],
        "{}\n{}",
        done.err,
        done.out
    );
    assert_eq!(sandbox.session_json("dual-gate.json")["can_exit"], true);
}

#[test]
fn claude_leaves_red() {
    red("claude");
}

#[test]
fn codex_leaves_red() {
    red("codex");
}

#[test]
fn gemini_leaves_red() {
    red("gemini");
}

#[test]
fn opencode_leaves_red() {
    red("opencode");
}
