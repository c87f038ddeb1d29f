//! The demo: the first thing that anybody runs, on whatever machine they have.

use loop_harness::Sandbox;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[test]
fn demo_the_demo_needs_nothing_and_leaves_nothing() {
    for (preset, said) in [("ralph", "2 iterations"), ("tdd", "6 iterations"), ("plan", "2 iterations")] {
        needs_and_leaves_nothing(preset, said);
    }
}

fn needs_and_leaves_nothing(preset: &str, said: &str) {
    let sandbox = Sandbox::new();
    let tools = sandbox.root().join("tools");
    std::fs::create_dir(&tools).expect("a folder");
    for tool in ["sh", "git"] {
        let path = std::env::var_os("PATH").expect("a path");
        let mut places = std::env::split_paths(&path).map(|it| it.join(tool));
        let found: PathBuf = places.find(|it| it.exists()).expect("an installed tool");
        symlink(found.canonicalize().expect("a real path"), tools.join(tool)).expect("a link");
    }
    let mut command = sandbox.command(&["demo", preset]);
    command.env("PATH", &tools).env_remove("LOOP_HOME").env_remove("LANG").current_dir("/");
    let began = Instant::now();
    let done = sandbox.start(command).wait().exits(0);
    assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
    let done = done.says("completed").says(said);
    assert!(done.err.contains("not done"), "the lie was not seen:\n{}", done.err);
    for folder in ["tmp", "user"] {
        assert!(sandbox.contents(&sandbox.root().join(folder)).is_empty(), "left in {folder}");
    }
    assert!(!sandbox.home.exists());
    sandbox.assert_nothing_runs();
}

#[test]
fn demo_the_demo_without_a_home_at_all() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["demo", "-q"]);
    command.env_remove("HOME").env_remove("LOOP_HOME").current_dir(sandbox.root().join("tmp"));
    sandbox.start(command).wait().exits(0);
    assert!(sandbox.contents(&sandbox.root().join("tmp")).is_empty());
}

#[test]
fn demo_a_demo_inside_an_agent_call_is_no_nested_run() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["demo", "--json"]);
    command.env("LOOP_RUN", "some-run");
    let done = sandbox.start(command).wait().exits(0);
    for line in done.out.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("JSON lines only");
    }
    assert_eq!(done.err, "");
}
