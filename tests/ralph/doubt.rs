//! Whatever is in doubt lets the session go: exit status 0, nothing on standard output, one line on
//! standard error.

use super::session::{CHECK, PROMISE, Sandbox, answer};
use loop_harness::Done;
use serde_json::{Value, json};

fn assert_let_go(done: &Done, warned: bool, what: &str) {
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{what}: {done:?}");
    assert_eq!(done.err.lines().count(), usize::from(warned), "{what}: {done:?}");
}

#[test]
fn g38_nonsense_is_never_a_block() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    let whole = sandbox.stop_input("one", false, PROMISE);
    let mut inputs: Vec<String> =
        ["", "{", "[]", "null", "\u{0}", "{}", "{\"session_id\": \"\"}", "3 3"].map(str::to_owned).to_vec();
    for (field, value) in [
        ("session_id", Value::Null),
        ("session_id", json!({})),
        ("session_id", json!("x".repeat(100_000))),
        ("stop_hook_active", json!("false")),
        ("last_assistant_message", json!(["x"])),
        ("last_assistant_message", Value::Null),
        ("hook_event_name", json!(0)),
        ("cwd", json!(7)),
    ] {
        let mut input = whole.clone();
        input[field] = value;
        inputs.push(input.to_string());
    }
    inputs.push(whole.to_string()[..100].to_owned());
    inputs.push("[".repeat(1_000_000));
    inputs.push(format!("{{\"x\": \"{}\"}}", "y".repeat(5_000_000)));
    for input in &inputs {
        assert_let_go(&sandbox.hook(input), true, &input.chars().take(200).collect::<String>());
    }
    assert_eq!(sandbox.status()["iterations_total"], 0);
    // Nothing was bound, and the loop still works.
    sandbox.fulfil();
    assert_eq!(sandbox.stop("two", false, PROMISE), None);
    assert_eq!(sandbox.status()["status"], "completed");
}

#[test]
fn other_events_and_other_places_are_none_of_our_business() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    let mut input = sandbox.stop_input("one", false, PROMISE);
    input["hook_event_name"] = json!("SubagentStop");
    assert_let_go(&sandbox.hook(&input.to_string()), false, "a subagent");
    let mut input = sandbox.stop_input("one", false, PROMISE);
    input["cwd"] = json!(sandbox.root());
    assert_let_go(&sandbox.hook(&input.to_string()), false, "another folder");
    let mut inside = sandbox.command(&["hook", "stop"]);
    inside.env("LOOP_RUN", "x");
    let input = sandbox.stop_input("one", false, PROMISE).to_string();
    assert_let_go(&sandbox.finish(inside, &input), false, "an agent that we started");
    assert_eq!(sandbox.status()["iterations_total"], 0);
}

#[test]
fn a_mistyped_hook_does_not_hold_the_session() {
    let sandbox = Sandbox::new();
    for flags in
        [&["hook", "stop", "--timeout", "soon"][..], &["hook", "stop", "--wat"], &["--wat", "hook", "stop"]]
    {
        assert_let_go(&sandbox.finish(sandbox.command(flags), "{}"), true, &format!("{flags:?}"));
    }
    assert_eq!(sandbox.run(&["hook", "stop", "--help"]).code, 0);
    assert_eq!(sandbox.run(&["hook", "go"]).code, 2);
}

#[test]
fn a_run_that_somebody_holds_or_a_home_that_is_damaged_lets_go() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    let input = sandbox.stop_input("one", false, PROMISE).to_string();
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let lock = std::fs::File::open(sandbox.root().join("home/runs").join(&run).join("lock")).expect("a lock");
    lock.lock().expect("it is free");
    assert_let_go(&sandbox.hook(&input), true, "a run that is held");
    drop(lock);
    assert!(answer(&sandbox.hook(&input)).is_some());
    std::fs::write(sandbox.root().join("home/loop.db"), "not a database at all").expect("written");
    assert_let_go(&sandbox.hook(&input), true, "a damaged home");
}

#[test]
fn an_input_that_does_not_end_is_not_awaited_for_ever() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["hook", "stop"]);
    let (reader, _held_open) = std::io::pipe().expect("a pipe");
    command.stdin(reader).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let done = command.spawn().expect("the program").wait_with_output().expect("an end");
    let done = Done {
        code: done.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8_lossy(&done.stderr).into_owned(),
    };
    assert_let_go(&done, true, "a silent pipe");
}
