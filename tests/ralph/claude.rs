//! The real Claude Code with the plugin, headless, against the scripted model server: a command
//! begins the loop, a false promise comes back with its failure, a true one ends the turn.

use super::sandbox::{DESIGN, LOOP, Sandbox};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "2.1.325";
const SESSION: &str = "5e6a1c0f-1111-4000-8000-000000000001";

/// Installs the agent below the target folder once.
fn claude() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("claude-{VERSION}"));
    let package = folder.join("node_modules/@anthropic-ai/claude-code");
    let program = package.join("bin/claude.exe");
    if !package.join("installed").exists() {
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = format!("@anthropic-ai/claude-code@{VERSION}");
        let npm =
            Command::new("npm").args(["install", "--silent", "--prefix"]).arg(&folder).arg(name).status();
        assert!(npm.expect("npm").success(), "npm install failed");
        let linked = Command::new("node").arg("install.cjs").current_dir(&package).status();
        assert!(linked.expect("node").success(), "the native program is missing");
        std::fs::write(package.join("installed"), "").expect("written");
    }
    program
}

#[test]
fn a_real_session_works_until_its_promise_holds() {
    if std::env::var_os("LOOP_TEST_AGENTS").is_none() {
        return;
    }
    let claude = claude();
    let sandbox = Sandbox::new();
    sandbox.write("DESIGN-20260101-000000.md", DESIGN);
    sandbox.write("tests.sh", "grep -q hello hello.txt || { echo 'hello.txt does not say it'; exit 1; }\n");
    sandbox.commit("a design");
    let init = format!("loop init --preset ralph --hook --session {SESSION} --check tests='sh tests.sh'");
    let work = "echo hello > hello.txt; sed -i 's/\\[ \\]/[x]/' DESIGN*; git add -A; git commit -qm hello";
    let script = serde_json::json!({ "turns": [
        { "tools": [{ "sh": init }], "expect": SESSION },
        { "text": "Done.\n\n<promise>FEATURE_COMPLETE</promise>", "expect": "Work on DESIGN-20260101-000000.md" },
        { "tools": [{ "sh": work }], "expect": "Stop hook feedback.*hello.txt does not say it" },
        { "text": "Really.\n\n<promise>FEATURE_COMPLETE</promise>" },
    ]});
    let path = sandbox.root.join("script.json");
    std::fs::write(&path, script.to_string()).expect("written");
    std::fs::create_dir(sandbox.root.join("bin")).expect("a folder");
    std::os::unix::fs::symlink(LOOP, sandbox.root.join("bin/loop")).expect("a link");

    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/model/fake_model.py");
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");
    let mut command = sandbox.furnished("python3", &[server, "with", "--script"]);
    command.arg(&path).arg("--").arg(claude);
    command.args(["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]);
    command.args(["--session-id", SESSION, "--plugin-dir", plugin, "/loop:start"]);
    let own = std::env::var_os("PATH").expect("a path");
    let places = std::env::split_paths(&own).collect::<Vec<_>>();
    let places = std::env::join_paths([sandbox.root.join("bin")].into_iter().chain(places)).expect("a path");
    command.env("PATH", places).env("IS_SANDBOX", "1").env("ANTHROPIC_API_KEY", "none");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("CLAUDE_CODE_MAX_RETRIES", "1");
    let done = sandbox.finish(command, "");

    assert_eq!(done.code, 0, "{done:?}");
    let result: Value = serde_json::from_str(done.out.lines().last().expect("a result")).expect("JSON");
    assert_eq!(result["result"], "Really.\n\n<promise>FEATURE_COMPLETE</promise>");
    assert!(done.out.contains("Stop hook feedback"), "{}", done.out);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"completed".into(), &2.into()));
}
