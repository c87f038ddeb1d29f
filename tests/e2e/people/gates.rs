//! A workflow of the user's own: two phases, one gate, no preset.

use loop_harness::{Sandbox, within};
use std::time::Duration;

const WORKFLOW: &str = r#"
name = "two-steps"

[checks.unit]
run = "test -f built"

[[phase]]
name = "BUILD"
prompt = "Build {{ input }}."
report = "json"
checks = ["unit"]
gates = ["approval"]
breaker = { no_progress = 9, same_error = 9 }

[[phase]]
name = "POLISH"
prompt = "Polish it."
report = "none"
signal = "none"

[gates.approval]
ask = "is it good enough?"
"#;

const AGENT: &str = r#"
echo "$LOOP_PHASE" >> "$OUT/phases"
touch built polished
git add -A; git commit -q --allow-empty -m "$LOOP_PHASE $LOOP_ITERATION"
echo '```json'; echo '{"status":"done","summary":"all of it"}'; echo '```'
"#;

fn waiting() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(AGENT);
    let done = sandbox.run(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
    assert!(done.err.contains("is it good enough?"), "{}", done.err);
    assert!(done.err.contains("loop approve approval"), "{}", done.err);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["workflow"]), (&"waiting".into(), &"two-steps".into()));
    assert_eq!(status["question"]["kind"], "gate");
    assert_eq!(status["question"]["choices"], serde_json::json!(["approve", "changes", "reject"]));
    assert!(sandbox.prompt(1).contains("Build a bridge."));
    sandbox
}

#[test]
fn en15_approved_it_goes_on_to_the_end() {
    let sandbox = waiting();
    sandbox.run(&["run", "a bridge"]).exits(3);
    assert_eq!(sandbox.calls(), [1], "a waiting run makes no call");
    sandbox.run(&["approve", "other"]).exits(2).says("loop approve approval");
    sandbox.run(&["approve", "--by", "Ada"]).exits(0).says("saved; continue with: loop run");
    sandbox.run(&["run", "a bridge"]).exits(0);
    sandbox.run(&["approve"]).exits(2);
    assert_eq!(sandbox.notes("phases"), ["BUILD", "POLISH"]);
    let status = sandbox.status();
    let phases: Vec<&serde_json::Value> =
        status["phases"].as_array().expect("phases").iter().map(|it| &it["status"]).collect();
    assert_eq!(phases, ["completed", "completed"]);
    sandbox.run(&["log"]).says("Ada");
    assert!(!sandbox.project.join(".claude-task-state.json").exists(), "no preset, no mirror");
    sandbox.assert_nothing_runs();
}

#[test]
fn en15_changes_go_back_with_the_words() {
    let sandbox = waiting();
    sandbox.run(&["changes"]).exits(2);
    sandbox.run(&["changes", "approval", "paint it", "green"]).exits(0);
    sandbox.run(&["run"]).exits(3);
    assert_eq!(sandbox.calls(), [1, 2]);
    assert!(sandbox.prompt(2).contains("paint it green"), "{}", sandbox.prompt(2));
    sandbox.run(&["approve", "approval"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.notes("phases"), ["BUILD", "BUILD", "POLISH"]);
}

#[test]
fn en15_rejected_it_is_blocked_until_a_person_says_otherwise() {
    let sandbox = waiting();
    sandbox.run(&["reject", "approval", "it", "is", "ugly"]).exits(0);
    let done = sandbox.run(&["run"]).exits(4);
    assert!(done.err.contains("it is ugly"), "{}", done.err);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["question"]["kind"]), (&"halted".into(), &"blocked".into()));
    sandbox.run(&["run"]).exits(4);
    assert_eq!(sandbox.calls(), [1]);
    sandbox.run(&["answer", "resume"]).exits(0);
    sandbox.run(&["run"]).exits(3);
    assert_eq!(sandbox.calls(), [1, 2], "the phase is worked on again, and the gate asked again");
}

#[test]
fn en15_a_gate_is_answered_while_a_controller_waits() {
    let sandbox = Sandbox::new();
    sandbox.write("flow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(AGENT);
    let command =
        ["run", "a bridge", "--workflow", "flow.toml", "--agent-cmd", &agent, "--on-question", "wait"];
    let running = sandbox.spawn(&command);
    assert!(within(Duration::from_secs(30), || sandbox.status()["status"] == "waiting"));
    sandbox.run(&["approve"]).exits(0);
    running.wait().exits(0);
    assert_eq!(sandbox.notes("phases"), ["BUILD", "POLISH"]);
}

/// A gate's timeout lets nobody through.
#[test]
fn en15_a_gate_that_nobody_answers_in_time_blocks() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", format!("{WORKFLOW}\ntimeout = \"1s\"\n"));
    sandbox.commit("a workflow");
    let agent = sandbox.agent(AGENT);
    let running = sandbox.spawn(&["run", "a bridge", "--agent-cmd", &agent, "--on-question", "wait"]);
    assert!(within(Duration::from_secs(30), || sandbox.status()["status"] == "halted"));
    assert_eq!(sandbox.status()["question"]["kind"], "blocked");
    running.signal(rustix::process::Signal::TERM);
    running.wait().exits(143);
    assert_eq!(sandbox.calls(), [1]);
}

/// An agent may ask for a gate; it cannot pass one.
#[test]
fn g28_a_report_passes_no_gate() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(
        "touch built; git add -A; git commit -q -m x; echo '```json'\n\
         echo '{\"status\":\"done\",\"gates\":[],\"approved\":true,\"gate\":\"approve\",\"metrics\":{\"approval\":true,\"approved\":true}}'\n\
         echo '```'",
    );
    sandbox.run(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
    assert_eq!(sandbox.status()["status"], "waiting");
}

#[test]
fn workflow_every_mistake_of_a_workflow_file_is_named_at_once() {
    let sandbox = Sandbox::new();
    let wrong = "nmae = \"x\"\n[agent]\ntimeout = \"soon\"\n[[phase]]\nname = \"A\"\nprompt = \"p\"\n\
                 exit = \"tests_failing = 0\"\nnext = \"Z\"\ngates = [\"nobody\"]\n";
    sandbox.write(".loop/workflow.toml", wrong);
    sandbox.commit("a workflow");
    let done = sandbox.run(&["run", "it", "--agent-cmd", "true"]).exits(2);
    for word in ["nmae", "soon", "tests_failing", "\"Z\"", "nobody", "mistakes"] {
        assert!(done.err.contains(word), "{word} is not named:\n{}", done.err);
    }
    assert!(!sandbox.home.exists());
    for broken in ["", "[[phase", "\u{0}", "name = \"only\"\n"] {
        sandbox.write(".loop/workflow.toml", broken);
        sandbox.run(&["run", "it", "--agent-cmd", "true", "--allow-dirty"]).exits(2);
    }
    sandbox.write(".loop/workflow.toml", [0xff, 0xfe, b'\n']);
    sandbox.run(&["run", "it", "--agent-cmd", "true"]).exits(2);
    std::fs::remove_file(sandbox.project.join(".loop/workflow.toml")).expect("a file");
    sandbox
        .run(&["run", "it", "--workflow", "missing.toml", "--agent-cmd", "true"])
        .exits(2)
        .says("missing.toml");
    sandbox.run(&["run", "it", "--preset", "nothing"]).exits(2).says("tdd, engineering, plan, ralph");
    sandbox.run(&["run", "it", "--preset", "ralph", "--workflow", "missing.toml"]).exits(2);
}
