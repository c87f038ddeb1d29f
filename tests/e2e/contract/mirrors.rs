//! What a status is called in the files that are written for other tools.
//!
//! | status | tdd | ralph |
//! |---|---|---|
//! | ready | | `ralph_has_its_words` |
//! | running | greenfield.rs in tests/tdd reads along | `ralph_has_its_words` |
//! | waiting | tests/tdd/trouble.rs (a rejection) | |
//! | paused, stopped | `tdd_has_its_words`; tests/tdd/trouble.rs | `ralph_has_its_words` |
//! | halted | `tdd_has_its_words` | `ralph_has_its_words` |
//! | capped | tests/tdd/trouble.rs | `ralph_has_its_words` |
//! | completed | tests/tdd/greenfield.rs | `ralph_has_its_words`: the file is removed |
//! | cancelled | `tdd_has_its_words` | `ralph_has_its_words` |
//!
//! `plan` and `engineering` are refused until they can be run; their words are units of the mirrors.

use loop_harness::{COMMIT, PROMISE, Sandbox};
use serde_json::Value;

fn json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).expect("JSON")
}

#[test]
fn ralph_has_its_words() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "[ -f \"$OUT/free\" ] || {{ echo here > \"$OUT/at\"; read x < \"$OUT/go\"; }}; date +%N > work; [ ! -f \"$OUT/mended\" ] || touch mended; {COMMIT}; if [ -f \"$OUT/lie\" ]; then {PROMISE}; fi"
    ));
    let word = || json(&sandbox, ".claude-task-state.json")["status"].as_str().expect("a word").to_owned();
    let check = "tests=echo no; test -f mended";
    sandbox.run(&["init", "it", "--agent-cmd", &agent, "--check", check]).exits(0);
    assert_eq!(word(), "initializing", "ready");
    let running = sandbox.spawn(&["run", "it"]);
    assert_eq!(at.hear(), "here");
    assert_eq!(word(), "running");
    sandbox.run(&["stop"]).exits(0);
    go.say();
    running.wait().exits(5);
    assert_eq!(word(), "paused", "stopped");
    let running = sandbox.spawn(&["run", "it"]);
    assert_eq!(at.hear(), "here");
    sandbox.run(&["pause"]).exits(0);
    running.wait().exits(5);
    assert_eq!(word(), "paused");
    let running = sandbox.spawn(&["run", "it", "--max", "2"]);
    assert_eq!(at.hear(), "here");
    go.say();
    running.wait().exits(6);
    assert_eq!(word(), "max_iterations", "capped");
    for name in ["lie", "free"] {
        std::fs::write(sandbox.note(name), "").expect("a file");
    }
    sandbox.run(&["run", "it", "--max", "20"]).exits(4);
    assert_eq!(word(), "stuck", "halted");
    std::fs::write(sandbox.note("mended"), "").expect("a file");
    sandbox.run(&["answer", "reset"]).exits(0);
    sandbox.run(&["run", "it"]).exits(0);
    assert!(!sandbox.project.join(".claude-task-state.json").exists(), "completed: the file is removed");
    sandbox.run(&["init", "that", "--agent-cmd", &agent, "--check", check]).exits(0);
    sandbox.run(&["cancel"]).exits(0);
    assert_eq!(word(), "cancelled");
}

#[test]
fn tdd_has_its_words() {
    let sandbox = Sandbox::new();
    sandbox.write("prp.md", "# PRP\n\n## Success Criteria\n\n- [ ] one\n");
    sandbox.commit("an input");
    let at = sandbox.fifo("at");
    let agent =
        sandbox.agent("[ -f \"$OUT/wait\" ] && { echo here > \"$OUT/at\"; exec sleep 600; }; echo nothing");
    let word = || {
        let state = json(&sandbox, ".prp-session/loop-state.json");
        ["status", "halt_reason", "pause_reason"].map(|it| state[it].as_str().unwrap_or_default().to_owned())
    };
    let command = [
        "run",
        "prp.md",
        "--mirror",
        ".prp-session",
        "--agent-cmd",
        &agent,
        "--check",
        "tests=echo '1 passed'; exit 1",
    ];
    std::fs::write(sandbox.note("wait"), "").expect("a file");
    let running = sandbox.spawn(&command);
    assert_eq!(at.hear(), "here");
    assert_eq!(word()[0], "running");
    running.signal(rustix::process::Signal::INT);
    running.wait().exits(130);
    assert_eq!(word(), ["paused", "", "User interrupt"]);
    std::fs::remove_file(sandbox.note("wait")).expect("it is there");
    sandbox.run(&["run", "prp.md"]).exits(4);
    assert_eq!(word()[0], "halted");
    sandbox.run(&["cancel"]).exits(0);
    assert_eq!(word()[..2], ["halted", "aborted by user"]);
}
