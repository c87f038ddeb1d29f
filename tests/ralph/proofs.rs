//! A session of the agent does the work, and what it did is proven although the hook has little time.

use super::session::{PROMISE, Sandbox, answer};

/// Takes longer than the hook of these tests may, once it is run for the second time.
const SLOW: &str = "tests=sleep 2; grep -q hello hello.txt";

fn stop(sandbox: &Sandbox, active: bool) -> Option<serde_json::Value> {
    let input = sandbox.stop_input("one", active, PROMISE).to_string();
    let done = sandbox.finish(sandbox.command(&["hook", "stop", "--timeout", "3"]), &input);
    assert_eq!(done.code, 0, "{done:?}");
    answer(&done).filter(|it| it["decision"] == "block")
}

#[test]
fn g21_a_proof_that_does_not_fit_into_a_stop_is_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.begin(SLOW);
    sandbox.fulfil();
    let mut told = stop(&sandbox, false);
    let mut waits = 0;
    while let Some(answer) = told {
        let reason = answer["reason"].as_str().expect("a text").to_owned();
        // In place, the check itself may not fit at first on a busy machine.
        if reason.contains("`loop wait`") {
            waits += 1;
            let done = sandbox.run(&["wait"]);
            assert_eq!(done.code, 0, "{done:?}");
        }
        assert!(sandbox.status()["verified"] == false, "{reason}");
        told = stop(&sandbox, true);
    }
    let status = sandbox.status();
    assert!((1..=3).contains(&waits), "{waits} waits: {status:#}");
    assert_eq!((&status["status"], &status["verified"]), (&"completed".into(), &true.into()), "{status:#}");
    let notes = status["proof"]["notes"].to_string();
    assert!(notes.contains("session was running during the proof"), "{status:#}");
}

#[test]
fn g21_a_session_is_let_go_after_three_waits() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.note("pipe").display().to_string();
    assert_eq!(sandbox.finish(sandbox.furnished("mkfifo", &[&pipe]), "").code, 0);
    // An ignored file makes the check quick in place; in a clean checkout it waits for us.
    sandbox.write(".gitignore", "quick\n");
    sandbox.write("quick", "");
    sandbox.begin(&format!("tests=test -e quick || cat {pipe}; grep -q hello hello.txt"));
    sandbox.fulfil();
    let mut blocks = 0;
    while let Some(told) = stop(&sandbox, 0 < blocks) {
        assert!(told["reason"].as_str().expect("a text").contains("`loop wait`"), "{told:#}");
        blocks += 1;
    }
    assert_eq!(blocks, 3);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&"running".into(), &false.into()), "{status:#}");
    // Whoever waits for the pipe goes on, and whoever comes later finds none.
    let ours = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).expect("a pipe");
    std::fs::remove_file(&pipe).expect("removed");
    drop(ours);
    assert_eq!(sandbox.run(&["wait"]).code, 0);
    assert_eq!(stop(&sandbox, false), None);
    assert_eq!(sandbox.status()["status"], "completed");
}
