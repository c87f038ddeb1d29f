//! The agent, the person and the machine end things in the middle of a running tool: nothing is left
//! running, nothing is taken for done, and the run goes on.

use super::lab::{INPUT, Lab, honest};
use loop_harness::agent_programs::is_wanted;
use loop_harness::within;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::process::Child;
use std::time::Duration;

/// A run whose agent's tool has begun and does not end.
fn in_a_tool(cli: &'static str, test: &str) -> Option<(Lab, Child)> {
    if !is_wanted(cli, test) {
        return None;
    }
    let tool = "touch \"$PWD\"/../begun; exec sleep 600";
    let mut lab = Lab::new(cli, &json!({"turns": [{"tools": [{"sh": tool}]}], "after": "error"}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests".to_owned()));
    let running = lab.spawn(&INPUT);
    let begun = lab.repo().parent().expect("a folder").join("begun");
    assert!(
        within(Duration::from_secs(90), || begun.exists()),
        "{cli}: {} {:?}",
        lab.said(),
        lab.processes()
    );
    Some((lab, running))
}

fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("it lives");
}

/// The process that loop started: the agent's own program, not a script around it.
fn agent(lab: &Lab) -> i32 {
    let is_agent = |line: &str| line.contains(" -p --output-format") || line.contains(" exec --json");
    let found: Vec<(i32, String)> = lab.processes().into_iter().filter(|it| is_agent(&it.1)).collect();
    let [(pid, line)] = found.as_slice() else { panic!("one agent, not {found:?}") };
    let program = line.split(' ').next().expect("a program");
    assert!(!program.ends_with("node") && !program.ends_with(".js"), "a script was started: {line}");
    *pid
}

fn agent_is_killed(cli: &'static str) {
    let Some((lab, mut running)) = in_a_tool(cli, "a killed agent") else { return };
    lab.play(&honest());
    kill(agent(&lab), Signal::KILL);
    // The next call does the work: the run went on, and the killed one was no success.
    assert_eq!(running.wait().expect("a status").code(), Some(0), "{}", lab.said());
    assert!(lab.said().contains("call 1 failed"), "{}", lab.said());
    let status = lab.status();
    assert_eq!((&status["status"], &status["calls_total"]), (&json!("completed"), &json!(2)), "{status}");
    lab.assert_nothing_runs();
}

#[test]
fn claude_is_killed_in_a_tool() {
    agent_is_killed("claude");
}

#[test]
fn codex_is_killed_in_a_tool() {
    agent_is_killed("codex");
}

fn person_interrupts(cli: &'static str) {
    let Some((lab, mut running)) = in_a_tool(cli, "an interrupt") else { return };
    kill(running.id().cast_signed(), Signal::INT);
    assert_eq!(running.wait().expect("a status").code(), Some(130), "{}", lab.said());
    lab.assert_nothing_runs();
    let status = lab.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&json!("paused"), &json!(0)), "{status}");
    lab.play(&honest());
    let done = lab.run(&["resume"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    lab.assert_nothing_runs();
}

#[test]
fn claude_is_interrupted_in_a_tool() {
    person_interrupts("claude");
}

#[test]
fn codex_is_interrupted_in_a_tool() {
    person_interrupts("codex");
}

/// The controller is killed and the call goes on under its shim, until a person ends it; the run then
/// goes on with another.
fn controller_is_killed(cli: &'static str) {
    let Some((lab, mut running)) = in_a_tool(cli, "a killed controller") else { return };
    kill(running.id().cast_signed(), Signal::KILL);
    running.wait().expect("a status");
    assert!(!lab.processes().is_empty(), "the call is not lost with its controller");
    lab.play(&honest());
    lab.run(&["stop", "--now"]);
    let done = lab.run(&["resume"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let status = lab.status();
    assert_eq!((&status["status"], &status["calls_total"]), (&json!("completed"), &json!(2)), "{status}");
    lab.assert_nothing_runs();
}

macro_rules! outlives {
    ($($name:ident $cli:literal),*) => {
        $(#[test]
        fn $name() {
            controller_is_killed($cli);
        })*
    };
}

outlives! {
    claude_outlives_its_controller "claude", codex_outlives_its_controller "codex",
    gemini_outlives_its_controller "gemini", opencode_outlives_its_controller "opencode",
    copilot_outlives_its_controller "copilot", qwen_outlives_its_controller "qwen",
    pi_outlives_its_controller "pi"
}
