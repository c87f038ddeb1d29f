//! The real Claude Code, headless, against the scripted model server: a plugin's command begins the
//! loop, a false promise comes back with its failure, a true one ends the turn; another session is
//! left alone; what is cancelled lets go; a hook that Claude Code ends leaves nothing behind.

use super::session::{CHECK, DESIGN, Sandbox};
use loop_harness::agent_programs::{installed, is_wanted};
use loop_harness::{Done, program};
use loop_model::{ModelServer, Options, Script};
use serde_json::{Value, json};
use std::path::PathBuf;

const SESSION: &str = "5e6a1c0f-1111-4000-8000-000000000001";
const OTHER: &str = "5e6a1c0f-1111-4000-8000-000000000002";
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");
const DESIGN_NAME: &str = "DESIGN-20260101-000000.md";

fn wanted(test: &str) -> bool {
    is_wanted("claude", test)
}

fn claude() -> PathBuf {
    installed("claude").join("claude")
}

/// A project with a design and a check, and our program under its own name.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(DESIGN_NAME, DESIGN);
    sandbox.write("tests.sh", "grep -q hello hello.txt || { echo 'hello.txt does not say it'; exit 1; }\n");
    sandbox.commit("a design");
    std::fs::create_dir(sandbox.root().join("bin")).expect("a folder");
    std::os::unix::fs::symlink(program(), sandbox.root().join("bin/loop")).expect("a link");
    sandbox
}

/// Lets a session answer a prompt as the script says, and end.
fn converse(sandbox: &Sandbox, turns: &Value, words: &[&str]) -> Done {
    let script = Script::read(&json!({ "turns": turns, "after": "error" }).to_string()).expect("a script");
    let server = ModelServer::start(script, &Options::default()).expect("a server");
    let mut command = sandbox.furnished(claude(), &[]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("NO_PROXY", "127.0.0.1,localhost");
    command.args(["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]);
    command.args(words);
    let own = std::env::var_os("PATH").expect("a path");
    let places = std::env::split_paths(&own).collect::<Vec<_>>();
    let places =
        std::env::join_paths([sandbox.root().join("bin")].into_iter().chain(places)).expect("a path");
    command.env("PATH", places).env("IS_SANDBOX", "1").env("ANTHROPIC_API_KEY", "none");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("CLAUDE_CODE_MAX_RETRIES", "1");
    sandbox.finish(command, "")
}

fn result(done: &Done) -> Value {
    assert_eq!(done.code, 0, "{done:?}");
    let last: Value = serde_json::from_str(done.out.lines().last().expect("a result")).expect("JSON");
    last["result"].clone()
}

fn times_sent_on(done: &Done) -> usize {
    done.out.lines().filter(|it| it.contains("Stop hook feedback")).count()
}

#[test]
fn a_real_session_works_until_its_promise_holds() {
    if !wanted("a_real_session_works_until_its_promise_holds") {
        return;
    }
    let sandbox = sandbox();
    let init = format!("loop init --preset ralph --hook --session {SESSION} --check tests='sh tests.sh'");
    let work = "echo hello > hello.txt; sed -i 's/\\[ \\]/[x]/' DESIGN*; git add -A; git commit -qm hello";
    let turns = json!([
        { "tools": [{ "sh": init }], "expect": SESSION },
        { "text": "Done.\n\n<promise>FEATURE_COMPLETE</promise>", "expect": format!("Work on {DESIGN_NAME}") },
        { "tools": [{ "sh": work }], "expect": "Stop hook feedback.*hello.txt does not say it" },
        { "text": "Really.\n\n<promise>FEATURE_COMPLETE</promise>" },
    ]);
    let done = converse(&sandbox, &turns, &["--session-id", SESSION, "--plugin-dir", PLUGIN, "/loop:start"]);
    assert_eq!(result(&done), "Really.\n\n<promise>FEATURE_COMPLETE</promise>");
    assert_eq!(times_sent_on(&done), 1, "{}", done.out);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"completed".into(), &2.into()));
}

#[test]
fn a_real_session_that_does_not_own_the_loop_is_left_alone_and_a_cancelled_loop_lets_go() {
    if !wanted("a_real_session_that_does_not_own_the_loop_is_left_alone_and_a_cancelled_loop_lets_go") {
        return;
    }
    let sandbox = sandbox();
    let done = sandbox.run(&["init", "--preset", "ralph", "--hook", "--session", SESSION, "--check", CHECK]);
    assert_eq!(done.code, 0, "{done:?}");
    let before = sandbox.run(&["log", "--json"]).out;
    let words = ["--plugin-dir", PLUGIN, "--session-id"];
    let bye = json!([{ "text": "bye\n\n<promise>FEATURE_COMPLETE</promise>" }]);
    let done = converse(&sandbox, &bye, &[&words[..], &[OTHER, "hello"]].concat());
    assert_eq!(result(&done), "bye\n\n<promise>FEATURE_COMPLETE</promise>");
    assert_eq!(times_sent_on(&done), 0);
    assert_eq!(sandbox.run(&["log", "--json"]).out, before, "nothing is recorded of it");

    let turns = json!([
        { "text": "I have begun" },
        { "tools": [{ "sh": "loop cancel --yes" }], "expect": "Stop hook feedback.*Iteration 2 of at most 25" },
        { "text": "I stop" },
    ]);
    let done = converse(&sandbox, &turns, &[&words[..], &[SESSION, "work"]].concat());
    assert_eq!(result(&done), "I stop");
    assert_eq!(times_sent_on(&done), 1);
    assert_eq!(sandbox.status()["status"], "cancelled");
}

#[test]
fn a_hook_that_claude_code_ends_leaves_nothing_running_and_loses_nothing() {
    if !wanted("a_hook_that_claude_code_ends_leaves_nothing_running_and_loses_nothing") {
        return;
    }
    let sandbox = sandbox();
    let check = "tests=grep -q hello hello.txt || exit 1; test -z \"$OUT\" || test -e $OUT/go || \
                 { echo $$ > $OUT/pid; exec sleep 600; }";
    let done = sandbox.run(&["init", "--preset", "ralph", "--hook", "--session", SESSION, "--check", check]);
    assert_eq!(done.code, 0, "{done:?}");
    sandbox.fulfil();
    let hook = json!({ "type": "command", "command": "loop hook stop", "timeout": 3 });
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string();
    let turns = json!([{ "text": "Done.\n\n<promise>FEATURE_COMPLETE</promise>" }]);
    let done = converse(&sandbox, &turns, &["--session-id", SESSION, "--settings", &settings, "work"]);
    assert_eq!(result(&done), "Done.\n\n<promise>FEATURE_COMPLETE</promise>");
    let pid: i32 = sandbox.noted("pid").trim().parse().expect("a pid");
    let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
    super::killed::until("the check is ended", || rustix::process::test_kill_process(pid).is_err());
    assert_eq!(sandbox.status()["status"], "running");
    std::fs::write(sandbox.note("go"), "").expect("written");
    assert_eq!(sandbox.stop(SESSION, false, "as I said"), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn the_plugin_is_valid_to_claude_code() {
    if !wanted("the_plugin_is_valid_to_claude_code") {
        return;
    }
    let sandbox = Sandbox::new();
    let program = claude();
    let command = sandbox.furnished(&program, &["plugin", "validate", PLUGIN]);
    let done = sandbox.finish(command, "");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("Validation passed"), "{done:?}");
}
