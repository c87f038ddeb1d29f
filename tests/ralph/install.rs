//! `loop hook install`, and the plugin that brings the same hook.

use super::session::Sandbox;
use loop_harness::program;
use serde_json::{Value, json};

#[test]
fn the_hook_is_put_beside_what_is_there_once() {
    let sandbox = Sandbox::new();
    let theirs = "{\n    \"model\":\"opus\",\n    \"hooks\": { \"Stop\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]} ] }\n}\n";
    sandbox.write(".claude/settings.json", theirs);
    let done = sandbox.run(&["hook", "install"]);
    assert_eq!(done.code, 0, "{done:?}");
    let text = sandbox.read(".claude/settings.json");
    assert!(
        text.starts_with("{\n    \"model\":\"opus\",\n    \"hooks\": { \"Stop\": [ {\"hooks\""),
        "{text}"
    );
    let settings: Value = serde_json::from_str(&text).expect("JSON");
    let stop = settings["hooks"]["Stop"].as_array().expect("a list");
    assert_eq!(stop.len(), 2);
    let expected =
        json!([{ "type": "command", "command": format!("'{}' hook stop", program()), "timeout": 60 }]);
    assert_eq!(stop[1]["hooks"], expected);
    assert_eq!(sandbox.run(&["hook", "install"]).code, 0);
    assert_eq!(sandbox.read(".claude/settings.json"), text);
}

#[test]
fn a_project_without_settings_gets_them_and_a_broken_file_is_left_alone() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["hook", "install"]).code, 0);
    assert!(sandbox.read(".claude/settings.json").contains("hook stop"));
    sandbox.write(".claude/settings.json", "{ \"hooks\": [] }");
    let done = sandbox.run(&["hook", "install"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert_eq!(sandbox.read(".claude/settings.json"), "{ \"hooks\": [] }");
}

#[test]
fn the_hook_is_taken_out_again_and_nothing_else() {
    let sandbox = Sandbox::new();
    let theirs = "{\n  \"model\": \"opus\"\n}\n";
    sandbox.write(".claude/settings.json", theirs);
    assert_eq!(
        sandbox.run(&["hook", "remove"]).out,
        format!("{} contains no loop hook\n", settings(&sandbox))
    );
    sandbox.run(&["hook", "install", "claude"]);
    let installed = sandbox.read(".claude/settings.json");
    let done = sandbox.run(&["hook", "remove", "--dry-run"]);
    assert_eq!(
        (done.code, done.out),
        (0, format!("would remove the stop hook from {}\n", settings(&sandbox)))
    );
    assert_eq!(sandbox.read(".claude/settings.json"), installed);
    let done = sandbox.run(&["hook", "remove"]);
    assert_eq!((done.code, done.out), (0, format!("removed the stop hook from {}\n", settings(&sandbox))));
    assert_eq!(sandbox.read(".claude/settings.json"), theirs);
    sandbox.write(".claude/settings.json", "{ \"hooks\": [] }");
    assert_eq!(sandbox.run(&["hook", "remove"]).code, 2);
    assert_eq!(sandbox.run(&["hook", "remove", "codex"]).code, 2);
}

fn settings(sandbox: &Sandbox) -> String {
    sandbox.project.join(".claude/settings.json").display().to_string()
}

#[test]
fn the_plugin_names_only_commands_that_exist() {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let manifest: Value = serde_json::from_str(&text("plugin/.claude-plugin/plugin.json")).expect("JSON");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let hooks: Value = serde_json::from_str(&text("plugin/hooks/hooks.json")).expect("JSON");
    assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["command"], "loop hook stop");
    let sandbox = Sandbox::new();
    for name in ["design", "start", "join", "status", "cancel"] {
        let text = text(&format!("plugin/commands/{name}.md"));
        let tools = text.lines().find_map(|it| it.strip_prefix("allowed-tools: ")).expect("tools");
        for command in tools.split("Bash(loop ").skip(1) {
            let words = command.split(':').next().expect("a command");
            let help: Vec<&str> = words.split(' ').chain(["--help"]).collect();
            assert_eq!(sandbox.run(&help).code, 0, "{help:?}");
        }
    }
}

#[test]
fn setup_puts_the_hook_there_too() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["setup", "--hook"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(sandbox.read(".claude/settings.json").contains("hook stop"));
    assert!(!sandbox.has(".loop"));
    let done = sandbox.run(&["setup", "ralph", "--agent", "claude", "--hook"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(sandbox.has(".loop/workflow.toml") && done.out.contains("already has the hook"), "{done:?}");
    sandbox.write(".claude/settings.json", "{ \"model\": \"opus\", // mine\n}");
    let done = sandbox.run(&["setup", "--hook"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("settings.json: it is not JSON"), "{done:?}");
}
